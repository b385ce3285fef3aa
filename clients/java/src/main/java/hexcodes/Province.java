package hexcodes;

import java.util.List;

/**
 * One of the 34 provinces of Viet Nam since July 2025.
 *
 * @param code two or three letters: the start of every hexcode of the province
 * @param name of the province or city, as written in Vietnamese
 * @param merged the provinces and cities that became this one in 2025: itself alone where nothing was merged
 */
public record Province(String code, String name, List<String> merged) {
  /** All of them, in the order of their admin numbers. */
  public static final List<Province> ALL =
      List.of(
          of("TQ", "Tuyên Quang", "Hà Giang", "Tuyên Quang"),
          of("CB", "Cao Bằng", "Cao Bằng"),
          of("LCU", "Lai Châu", "Lai Châu"),
          of("LCI", "Lào Cai", "Lào Cai", "Yên Bái"),
          of("TN", "Thái Nguyên", "Bắc Kạn", "Thái Nguyên"),
          of("DB", "Điện Biên", "Điện Biên"),
          of("LS", "Lạng Sơn", "Lạng Sơn"),
          of("SL", "Sơn La", "Sơn La"),
          of("PT", "Phú Thọ", "Hòa Bình", "Vĩnh Phúc", "Phú Thọ"),
          of("BN", "Bắc Ninh", "Bắc Giang", "Bắc Ninh"),
          of("QNH", "Quảng Ninh", "Quảng Ninh"),
          of("HN", "Hà Nội", "Hà Nội"),
          of("HP", "Hải Phòng", "Hải Dương", "Hải Phòng"),
          of("HY", "Hưng Yên", "Thái Bình", "Hưng Yên"),
          of("NB", "Ninh Bình", "Hà Nam", "Ninh Bình", "Nam Định"),
          of("TH", "Thanh Hóa", "Thanh Hóa"),
          of("NA", "Nghệ An", "Nghệ An"),
          of("HT", "Hà Tĩnh", "Hà Tĩnh"),
          of("QT", "Quảng Trị", "Quảng Bình", "Quảng Trị"),
          of("HUE", "Huế", "Huế"),
          of("DNG", "Đà Nẵng", "Quảng Nam", "Đà Nẵng"),
          of("QNG", "Quảng Ngãi", "Quảng Ngãi", "Kon Tum"),
          of("GL", "Gia Lai", "Gia Lai", "Bình Định"),
          of("DLK", "Đắk Lắk", "Phú Yên", "Đắk Lắk"),
          of("KH", "Khánh Hòa", "Khánh Hòa", "Ninh Thuận"),
          of("LD", "Lâm Đồng", "Đắk Nông", "Lâm Đồng", "Bình Thuận"),
          of("DN", "Đồng Nai", "Bình Phước", "Đồng Nai"),
          of("TNH", "Tây Ninh", "Long An", "Tây Ninh"),
          of("HCM", "TP. Hồ Chí Minh", "Bình Dương", "TP.HCM", "Bà Rịa - Vũng Tàu"),
          of("DT", "Đồng Tháp", "Tiền Giang", "Đồng Tháp"),
          of("AG", "An Giang", "Kiên Giang", "An Giang"),
          of("VL", "Vĩnh Long", "Bến Tre", "Vĩnh Long", "Trà Vinh"),
          of("CT", "Cần Thơ", "Sóc Trăng", "Hậu Giang", "Cần Thơ"),
          of("CM", "Cà Mau", "Bạc Liêu", "Cà Mau"));

  private static Province of(String code, String name, String... merged) {
    return new Province(code, name, List.of(merged));
  }
}
