/** C#: an ASP.NET Core middleware on .NET's own RSA and JSON; no package is to be added. */
import type { FrameworkSnippet } from './snippet.ts'

const CODE = String.raw`// Run it with: dotnet run (.NET 8 and later)
//
// Believes nothing but the signature of X-Service-Claims, and answers the service's probes. Let
// only the gateway reach this application all the same: sessions are ended early there, not here.
using System.Security.Claims;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;
using Microsoft.AspNetCore.WebUtilities;
using Microsoft.Extensions.Primitives;

var builder = WebApplication.CreateBuilder(args);
var app = builder.Build();

// First of all, in front of redirects, static files and authorization.
app.UseMiddleware<ServiceClaims>();

app.MapGet("/", (ClaimsPrincipal user) => "Hello " + user.Identity?.Name + "\n");

app.Run("http://127.0.0.1:" + (app.Configuration["PORT"] ?? "3000"));

/// <summary>Handlers find the user in HttpContext.User, whose name is the claim "name".</summary>
public sealed class ServiceClaims
{
    private static readonly Regex Token =
        new(@"\A[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\z");
    private static readonly Regex Pem =
        new("-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----");
    private const int FetchGapMs = 10_000;

    private readonly HttpClient client = new()
    {
        Timeout = TimeSpan.FromSeconds(5),
        MaxResponseContentBufferSize = 65_536,
    };
    private readonly SemaphoreSlim fetching = new(1, 1);
    private readonly RequestDelegate next;
    private readonly ILogger<ServiceClaims> log;
    private readonly string issuer;
    private readonly string audience;
    private readonly Uri keysUrl;
    // parameters, since an RSA object is not for several threads at a time
    private readonly Dictionary<string, RSAParameters> installed;
    private volatile Dictionary<string, RSAParameters> keys;
    private long fetchAgainAt = Environment.TickCount64;

    public ServiceClaims(RequestDelegate next, ILogger<ServiceClaims> log, IConfiguration settings)
    {
        var baseUrl = settings["SERVICE_BASE_URL"] ?? throw new InvalidOperationException("SERVICE_BASE_URL is not set");
        var tenantId = settings["SERVICE_TENANT_ID"] ?? throw new InvalidOperationException("SERVICE_TENANT_ID is not set");
        baseUrl = baseUrl.TrimEnd('/');
        this.next = next;
        this.log = log;
        issuer = baseUrl + "/auth/realms/" + tenantId;
        audience = tenantId + "-user";
        keysUrl = new Uri(baseUrl + "/tenants/" + tenantId + "/public-key");
        var file = settings["SERVICE_PUBLIC_KEY_FILE"] ?? "service_public.pem";
        installed = KeysByKid(File.Exists(file) ? File.ReadAllText(file) : "");
        keys = installed;
    }

    public async Task InvokeAsync(HttpContext context)
    {
        var (request, response) = (context.Request, context.Response);
        if (request.Headers.TryGetValue("X-Service-Probe", out var probes))
        {
            var probe = await ProvenAsync(probes, "service-probe+jwt", 60, "nonce");
            response.StatusCode = probe is null ? 401 : 204;
            response.Headers["X-Service-Probe-Reply"] = probe is null ? "" : probe["nonce"];
            return;
        }
        var lines = request.Headers["X-Service-Claims"];
        var user = await ProvenAsync(lines, "JWT", int.MaxValue, "sub", "sid");
        if (user is null)
        {
            response.StatusCode = 401;
            await response.WriteAsync("This request carries no valid sign-in. Open the application at its public address.");
            return;
        }
        var claims = user.Select(claim => new Claim(claim.Key, claim.Value));
        context.User = new ClaimsPrincipal(new ClaimsIdentity(claims, "service", "name", "role"));
        await next(context);
    }

    /// <summary>What the service signed for this application, or null: deny when unsure.</summary>
    private async Task<Dictionary<string, string>?> ProvenAsync(
        StringValues lines, string typ, int lifeSeconds, params string[] names)
    {
        if (lines.Count != 1 || !Token.IsMatch(lines[0] ?? "")) return null;
        var parts = lines[0]!.Split('.');
        try
        {
            using var head = JsonDocument.Parse(WebEncoders.Base64UrlDecode(parts[0]));
            var header = head.RootElement;
            // the algorithm is ours to choose, whatever a token asks for
            if (Text(header, "alg") != "RS256" || header.TryGetProperty("crit", out _)) return null;
            var isTyped = header.TryGetProperty("typ", out _);
            if ((isTyped ? Text(header, "typ") : "JWT") != typ) return null;
            if (await KeyForAsync(Text(header, "kid")) is not RSAParameters key) return null;
            using var rsa = RSA.Create(key);
            var signed = Encoding.ASCII.GetBytes(parts[0] + "." + parts[1]);
            var signature = WebEncoders.Base64UrlDecode(parts[2]);
            var (hash, padding) = (HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
            if (!rsa.VerifyData(signed, signature, hash, padding)) return null;

            using var body = JsonDocument.Parse(WebEncoders.Base64UrlDecode(parts[1]));
            var claims = body.RootElement;
            var now = DateTimeOffset.UtcNow.ToUnixTimeSeconds();
            var exp = claims.GetProperty("exp").GetInt64();
            var iat = claims.GetProperty("iat").GetInt64();
            if (Text(claims, "iss") != issuer || Text(claims, "aud") != audience) return null;
            if (exp <= now || iat > now + 60 || exp - lifeSeconds > iat) return null;
            if (names.Any(name => string.IsNullOrEmpty(Text(claims, name)))) return null;
            var known = new Dictionary<string, string>();
            foreach (var claim in claims.EnumerateObject())
                known[claim.Name] = claim.Value.ToString();
            return known;
        }
        catch (Exception error) when (error is JsonException or FormatException or ArgumentException
            or InvalidOperationException or KeyNotFoundException or CryptographicException)
        {
            return null;
        }
    }

    private static string? Text(JsonElement json, string name) =>
        json.TryGetProperty(name, out var value) && value.ValueKind == JsonValueKind.String
            ? value.GetString()
            : null;

    private async Task<RSAParameters?> KeyForAsync(string? kid)
    {
        if (kid is null) return null;
        if (!keys.ContainsKey(kid)) await FetchKeysAsync(kid);
        return keys.TryGetValue(kid, out var key) ? key : null;
    }

    /// <summary>A key that was rotated in since is fetched, every 10 s at most.</summary>
    private async Task FetchKeysAsync(string kid)
    {
        await fetching.WaitAsync();
        try
        {
            if (keys.ContainsKey(kid) || Environment.TickCount64 < fetchAgainAt) return;
            fetchAgainAt = Environment.TickCount64 + FetchGapMs;
            using var request = new HttpRequestMessage(HttpMethod.Get, keysUrl);
            request.Headers.Accept.ParseAdd("application/x-pem-file");
            using var answer = await client.SendAsync(request);
            answer.EnsureSuccessStatusCode();
            var all = new Dictionary<string, RSAParameters>(installed);
            foreach (var (name, key) in KeysByKid(await answer.Content.ReadAsStringAsync()))
                all[name] = key;
            keys = all;
        }
        catch (Exception error) when (error is HttpRequestException or OperationCanceledException
            or CryptographicException or ArgumentException)
        {
            log.LogWarning(error, "could not fetch the public keys");
        }
        finally
        {
            fetching.Release();
        }
    }

    /// <summary>A kid is the RFC 7638 thumbprint of its key, so a PEM needs no name.</summary>
    private static Dictionary<string, RSAParameters> KeysByKid(string pems)
    {
        var found = new Dictionary<string, RSAParameters>();
        foreach (Match pem in Pem.Matches(pems))
        {
            using var rsa = RSA.Create();
            rsa.ImportFromPem(pem.Value);
            var key = rsa.ExportParameters(false);
            var e = WebEncoders.Base64UrlEncode(key.Exponent!);
            var n = WebEncoders.Base64UrlEncode(key.Modulus!);
            var text = "{\"e\":\"" + e + "\",\"kty\":\"RSA\",\"n\":\"" + n + "\"}";
            var digest = SHA256.HashData(Encoding.UTF8.GetBytes(text));
            found[WebEncoders.Base64UrlEncode(digest)] = key;
        }
        return found;
    }
}
`

export const CSHARP: Readonly<Record<string, FrameworkSnippet>> = {
  aspnet: {
    name: 'ASP.NET Core',
    language: 'csharp',
    modes: ['gateway', 'connector'],
    edge: { install: 'dotnet new web', file: 'Program.cs', code: CODE },
  },
}
