/**
 * Java: a servlet filter on the JDK's own signatures and the JSON parser that every Spring Boot
 * brings, whichever generation of Jackson is below it.
 */
import type { FrameworkSnippet } from './snippet.ts'

const CODE = String.raw`// Your package, in which Spring Boot finds it: nothing else is to be done.
package com.example.demo;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.math.BigInteger;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.Signature;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.X509EncodedKeySpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.json.JsonParser;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Controllers take the user as {@code @RequestAttribute Map<String, Object> serviceUser}.
 *
 * <p>Believes nothing but the signature of X-Service-Claims, and answers the service's probes. Let
 * only the gateway reach this application all the same: sessions are ended early there, not here.
 */
@Component
@Order(Ordered.HIGHEST_PRECEDENCE)
public class ServiceClaimsFilter extends OncePerRequestFilter {
  private static final Pattern TOKEN = Pattern.compile("[\\w-]+\\.[\\w-]+\\.[\\w-]+");
  private static final Pattern PEM =
      Pattern.compile("-----BEGIN PUBLIC KEY-----([^-]+)-----END PUBLIC KEY-----");
  private static final JsonParser JSON = JsonParserFactory.getJsonParser();
  private static final Duration FETCH_GAP = Duration.ofSeconds(10);
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private final HttpClient client = HttpClient.newBuilder().connectTimeout(TIMEOUT).build();
  private final String issuer;
  private final String audience;
  private final URI keysUrl;
  private final Map<String, RSAPublicKey> installed;
  private volatile Map<String, RSAPublicKey> keys;
  private long fetchAgainAt = System.nanoTime();

  public ServiceClaimsFilter(
      @Value("${'$'}{SERVICE_BASE_URL}") String baseUrl,
      @Value("${'$'}{SERVICE_TENANT_ID}") String tenantId,
      @Value("${'$'}{SERVICE_PUBLIC_KEY_FILE:service_public.pem}") String keyFile)
      throws IOException, GeneralSecurityException {
    String base = baseUrl.replaceAll("/+$", "");
    issuer = base + "/auth/realms/" + tenantId;
    audience = tenantId + "-user";
    keysUrl = URI.create(base + "/tenants/" + tenantId + "/public-key");
    Path file = Path.of(keyFile);
    installed = Files.exists(file) ? keysByKid(Files.readString(file)) : new HashMap<>();
    keys = installed;
  }

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    List<String> probes = Collections.list(request.getHeaders("X-Service-Probe"));
    if (!probes.isEmpty()) {
      Map<String, Object> probe = proven(probes, "service-probe+jwt", "nonce");
      boolean isFresh = probe != null && seconds(probe, "exp") - 60 <= seconds(probe, "iat");
      response.setStatus(isFresh ? 204 : 401);
      response.setHeader("X-Service-Probe-Reply", isFresh ? (String) probe.get("nonce") : "");
      return;
    }
    List<String> lines = Collections.list(request.getHeaders("X-Service-Claims"));
    Map<String, Object> user = proven(lines, "JWT", "sub", "sid");
    if (user == null) {
      response.setStatus(401);
      return;
    }
    request.setAttribute("serviceUser", user);
    chain.doFilter(request, response);
  }

  /** The claims that the service signed for this application, or null: deny when unsure. */
  private Map<String, Object> proven(List<String> lines, String typ, String... names) {
    if (lines.size() != 1 || !TOKEN.matcher(lines.get(0)).matches()) return null;
    String[] parts = lines.get(0).split("\\.");
    try {
      Map<String, Object> header = json(parts[0]);
      // the algorithm is ours to choose, whatever a token asks for
      if (!"RS256".equals(header.get("alg")) || header.containsKey("crit")) return null;
      if (!typ.equals(header.getOrDefault("typ", "JWT"))) return null;
      RSAPublicKey key = keyFor(header.get("kid"));
      if (key == null) return null;
      Signature signature = Signature.getInstance("SHA256withRSA");
      signature.initVerify(key);
      signature.update((parts[0] + "." + parts[1]).getBytes(StandardCharsets.US_ASCII));
      if (!signature.verify(Base64.getUrlDecoder().decode(parts[2]))) return null;

      Map<String, Object> claims = json(parts[1]);
      long now = Instant.now().getEpochSecond();
      if (!issuer.equals(claims.get("iss")) || !audience.equals(claims.get("aud"))) return null;
      if (seconds(claims, "exp") <= now || seconds(claims, "iat") > now + 60) return null;
      for (String name : names) {
        if (!(claims.get(name) instanceof String text) || text.isEmpty()) return null;
      }
      return claims;
    } catch (GeneralSecurityException | RuntimeException malformed) {
      return null;
    }
  }

  private static long seconds(Map<String, Object> claims, String name) {
    return ((Number) claims.get(name)).longValue();
  }

  private static Map<String, Object> json(String part) {
    byte[] text = Base64.getUrlDecoder().decode(part);
    return JSON.parseMap(new String(text, StandardCharsets.UTF_8));
  }

  private RSAPublicKey keyFor(Object kid) {
    if (!keys.containsKey(kid)) fetchKeys(kid);
    return keys.get(kid);
  }

  /** A key that was rotated in since is fetched when it first appears: every 10 s at most. */
  private synchronized void fetchKeys(Object kid) {
    if (keys.containsKey(kid) || System.nanoTime() - fetchAgainAt < 0) return;
    fetchAgainAt = System.nanoTime() + FETCH_GAP.toNanos();
    try {
      var request = HttpRequest.newBuilder(keysUrl).timeout(TIMEOUT);
      request.header("Accept", "application/x-pem-file");
      var answer = client.send(request.build(), BodyHandlers.ofString());
      if (answer.statusCode() != 200) throw new IOException("status " + answer.statusCode());
      var all = new HashMap<>(installed);
      all.putAll(keysByKid(answer.body()));
      keys = all;
    } catch (IOException | GeneralSecurityException | RuntimeException error) {
      logger.warn("could not fetch the public keys", error);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** A kid is the RFC 7638 thumbprint of its key, so a PEM needs no name. */
  private static Map<String, RSAPublicKey> keysByKid(String pems) throws GeneralSecurityException {
    var keys = new HashMap<String, RSAPublicKey>();
    var pem = PEM.matcher(pems);
    while (pem.find()) {
      var spec = new X509EncodedKeySpec(Base64.getMimeDecoder().decode(pem.group(1)));
      var key = (RSAPublicKey) KeyFactory.getInstance("RSA").generatePublic(spec);
      var members = "{\"e\":\"%s\",\"kty\":\"RSA\",\"n\":\"%s\"}";
      var text = members.formatted(unsigned(key.getPublicExponent()), unsigned(key.getModulus()));
      var digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes());
      keys.put(base64url(digest), key);
    }
    return keys;
  }

  private static String unsigned(BigInteger number) {
    byte[] bytes = number.toByteArray(); // a zero first, where the sign would be
    return base64url(bytes[0] == 0 ? Arrays.copyOfRange(bytes, 1, bytes.length) : bytes);
  }

  private static String base64url(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }
}
`

export const JAVA: Readonly<Record<string, FrameworkSnippet>> = {
  spring: {
    name: 'Spring Boot',
    language: 'java',
    modes: ['gateway', 'connector'],
    edge: {
      // the starter for the web brings all that is imported
      install: '',
      file: 'src/main/java/com/example/demo/ServiceClaimsFilter.java',
      code: CODE,
    },
  },
}
