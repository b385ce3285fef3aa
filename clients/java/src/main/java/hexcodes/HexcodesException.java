package hexcodes;

/** A call that has no answer. The message names field, value and rule. */
public final class HexcodesException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;

  /** The reason. */
  public enum Code {
    /** The position is in no province of Viet Nam nor its sea. */
    OUTSIDE_COVERAGE,
    /** The numbers are not finite, or beyond 90 degrees of latitude or 180 of longitude. */
    NOT_A_COORDINATE,
    /** The resolution is not 0 to 15. */
    BAD_RESOLUTION,
    /** An argument is null, or arrays differ in length. */
    BAD_ARGUMENT,
    /** A file cannot be used. */
    BAD_DATA
  }

  private final Code code;

  HexcodesException(Code code, String message) {
    super(message);
    this.code = code;
  }

  public Code code() {
    return code;
  }
}
