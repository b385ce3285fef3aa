// The first answer of the stream of docs/stream.md, with Java 11 or later and nothing else:
//
//     java FirstAnswer.java KEY ws://127.0.0.1:8080/v1/hexcodes/stream
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

class FirstAnswer {
  public static void main(String[] args) throws Exception {
    var answer = new CompletableFuture<String>();
    var listener = new WebSocket.Listener() {
      final StringBuilder message = new StringBuilder();

      @Override public CompletionStage<?> onText(WebSocket socket, CharSequence part, boolean isLast) {
        message.append(part);
        if (isLast) {
          if (message.indexOf("\"ready\"") >= 0)
            socket.sendText("{\"seq\":1,\"op\":\"encode\",\"points\":[[21.0288,105.8525]]}", true);
          else answer.complete(message.toString());
          message.setLength(0);
        }
        socket.request(1);
        return null;
      }

      @Override public void onError(WebSocket socket, Throwable error) {
        answer.completeExceptionally(error);
      }
    };
    HttpClient.newHttpClient().newWebSocketBuilder()
        .header("X-API-Key", args[0]).subprotocols("hexcodes.v1.json")
        .buildAsync(URI.create(args[1]), listener).join();
    System.out.println(answer.get(10, TimeUnit.SECONDS));
    System.exit(0);
  }
}
