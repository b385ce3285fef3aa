import hexcodes.Hexcodes;
import java.util.List;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF3;
import org.apache.spark.sql.types.DataTypes;

/** Spark: hexcode(lat, lng, resolution) in SQL; NULL for NULL and where there is no code. */
class SqlFunction {
  /** One for each executor, which loads this class for itself. */
  static final class Shared {
    static final Hexcodes HEXCODES = Hexcodes.load();
  }

  static void register(SparkSession spark) {
    UDF3<Double, Double, Integer, String> hexcode =
        (lat, lng, resolution) ->
            lat == null || lng == null || resolution == null ? null : Shared.HEXCODES.encodeOrNull(lat, lng, resolution);
    spark.udf().register("hexcode", hexcode, DataTypes.StringType);
  }

  public static void main(String[] args) throws Exception {
    try (var spark =
        SparkSession.builder()
            .master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .getOrCreate()) {
      register(spark);
      spark.createDataset(List.of(args), Encoders.STRING()).createOrReplaceTempView("positions");
      String sql =
          "SELECT coalesce(hexcode(double(split(value, ',')[0]), double(split(value, ',')[1]), 13), '-') FROM positions";
      spark.sql(sql).as(Encoders.STRING()).collectAsList().forEach(System.out::println);
    }
  }
}
