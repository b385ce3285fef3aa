// Calls every operation by the client that openapi-generator makes for Java. Arguments and output: oapi_main.go.
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import org.openapitools.client.ApiClient;
import org.openapitools.client.api.*;
import org.openapitools.client.model.*;

public class Calls {
  interface Check {
    boolean isRight() throws Exception;
  }

  static int done = 0;
  static final List<String> faults = new ArrayList<>();

  static void check(String name, Check check) {
    try {
      if (check.isRight()) done++;
      else faults.add(name + ": another answer than is due");
    } catch (Exception e) {
      faults.add(name + ": " + String.valueOf(e).replace('\n', ' '));
    }
  }

  public static void main(String[] args) {
    double lat = Double.parseDouble(args[2]), lng = Double.parseDouble(args[3]);
    String due = args[4], code = "HN-6GHP4-83RFR";
    ApiClient client = new ApiClient().setBasePath(args[0]);
    client.addDefaultHeader("X-API-Key", args[1]);
    OneAtATimeApi one = new OneAtATimeApi(client);
    ManyAtATimeApi many = new ManyAtATimeApi(client);
    LookingUpApi look = new LookingUpApi(client);
    TrackersApi track = new TrackersApi(client);
    check("encode", () -> one.encode(lat, lng, 15, null, null, null, null).getHexcodes().equals(due));
    check("encodePost", () -> one.encodePost(null, null, null, null, null, null, null,
        new EncodeRequest().lat(lat).lng(lng).resolution(15)).getHexcodes().equals(due));
    check("decode", () -> one.decode(code, null, null).getLat() == 21.02879832129181);
    check("decodePost", () -> {
      DecodeAnswer answer = one.decodePost(null, null, null, new DecodeRequest().hexcodes("nope"));
      return answer.getLat() == null && answer.getStatus() == DecodeAnswer.StatusEnum.INVALID_HEXCODES;
    });
    check("encodeBatch", () -> {
      EncodeBatchRequest request = new EncodeBatchRequest();
      request.addPointsItem(new EncodeBatchRequestPointsInner(new Point().lat(lat).lng(lng).resolution(15)));
      request.addPointsItem(new EncodeBatchRequestPointsInner(new Point().lat(0.0).lng(0.0)));
      List<EncodeResult> results = many.encodeBatch(request, null).getResults();
      return results.get(0).getHexcodes().equals(due) && results.get(1).getIndex() == 1;
    });
    check("decodeBatch", () -> {
      DecodeBatchRequest request = new DecodeBatchRequest();
      request.addHexcodesItem(new DecodeBatchRequestHexcodesInner(new CodeItem().hexcodes(code)));
      request.addHexcodesItem(new DecodeBatchRequestHexcodesInner(new CodeItem().hexcodes("nope")));
      List<DecodeResult> results = many.decodeBatch(request, null).getResults();
      return results.get(0).getResolution() == 13 && results.get(1).getCode().equals("hexcode_invalid");
    });
    check("encodeBulk", () -> many.encodeBulk("lat,lng\n21.0288,105.8525\n", null, null, null, null, null, null,
        null, null).contains(code));
    check("decodeBulk", () -> many.decodeBulk("hexcodes\n" + code + "\n", null, null, null, null)
        .contains("21.02879832129181"));
    check("codeInfo", () -> look.codeInfo(code).getProvince().equals("Hà Nội"));
    check("suggestions", () -> look.suggestions("HN-6GHP4-B3RFR", null).getSuggestions().get(0).getSlip().getValue()
        .equals("twin"));
    check("places", () -> !look.places("ha long", null, null).getPlaces().isEmpty());
    check("grid", () -> !look.grid(12, 3252, 1803).getFeatures().isEmpty());
    check("gridTile", () -> {
      File tile = look.gridTile(12, 3252, 1803);
      boolean isRight = tile.length() > 100;
      tile.delete();
      return isRight;
    });
    check("adminUnits", () -> look.adminUnits().getAdminUnits().size() == 34);
    check("formerProvinces", () -> look.formerProvinces().getFormerProvinces().size() == 63);
    check("adminUnit", () -> look.adminUnit("HN").getName().equals("Hà Nội"));
    check("reverse", () -> look.reverse(21.0288, 105.8525, null, null, null).getName().equals(code));
    check("traccar", () -> track.traccar(new TraccarRequest()
        .position(new TraccarRequestPosition().latitude(21.0288).longitude(105.8525))
        .device(new TraccarRequestDevice().uniqueId("1")), null).getHexcodes().equals(code));
    check("traccarUrl", () -> track.traccarUrl("1", 0.0, 0.0, null, null).getHexcodes() == null);
    check("meta", () -> look.meta().getService().getName().equals("hexcodes"));
    check("usage", () -> look.usage().getDay().getRequests() > 0);
    System.out.println(done);
    faults.forEach(System.out::println);
    System.exit(0);
  }
}
