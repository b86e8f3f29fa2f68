/**
 * PHP: a Laravel middleware on PHP's own OpenSSL. No process outlives a request, so keys that were
 * rotated in are kept in the application's cache.
 */
import type { FrameworkSnippet } from './snippet.ts'

const CODE = String.raw`<?php
// Mount it first of all, in bootstrap/app.php:
//   ->withMiddleware(fn ($middleware) => $middleware->prepend(ServiceClaims::class))
// and up to Laravel 10 in app/Http/Kernel.php, at the top of $middleware. With "config:cache" the
// settings must be in the environment: .env is not read then.
//
// Believes nothing but the signature of X-Service-Claims, and answers the service's probes. Let
// only the gateway reach this application all the same: sessions are ended early there, not here.

namespace App\Http\Middleware;

use Closure;
use Illuminate\Auth\GenericUser;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Cache;
use Illuminate\Support\Facades\Http;
use OpenSSLAsymmetricKey;
use RuntimeException;
use Throwable;

class ServiceClaims
{
    private string $baseUrl;
    private string $tenantId;
    private string $keyFile;

    public function __construct()
    {
        $baseUrl = env('SERVICE_BASE_URL') ?? throw new RuntimeException('SERVICE_BASE_URL is not set');
        $this->baseUrl = rtrim($baseUrl, '/');
        $this->tenantId = env('SERVICE_TENANT_ID') ?? throw new RuntimeException('SERVICE_TENANT_ID is not set');
        $this->keyFile = env('SERVICE_PUBLIC_KEY_FILE', base_path('service_public.pem'));
    }

    /** A header that came twice is joined by a comma, which no token contains. */
    public function handle(Request $request, Closure $next)
    {
        $token = implode(',', $request->headers->all('X-Service-Claims'));
        $probe = implode(',', $request->headers->all('X-Service-Probe'));
        if ($request->headers->has('X-Service-Probe')) {
            $claims = $this->proven($probe, 'service-probe+jwt', ['nonce']);
            return $claims !== null && $claims['exp'] - $claims['iat'] <= 60
                ? response('', 204, ['X-Service-Probe-Reply' => $claims['nonce']])
                : response('', 401, ['X-Service-Probe-Reply' => '']);
        }
        $user = $this->proven($token, 'JWT', ['sub', 'sid']);
        if ($user === null) {
            return response('This request carries no valid sign-in. Open the application at its public address.', 401);
        }
        $request->setUserResolver(fn () => new GenericUser(['id' => $user['sub']] + $user));
        return $next($request);
    }

    /** The claims that the service signed for this application, or null: deny when unsure. */
    private function proven(string $token, string $typ, array $names): ?array
    {
        if (!preg_match('/\A([\w-]+)\.([\w-]+)\.([\w-]+)\z/', $token, $parts)) {
            return null;
        }
        $header = json_decode(self::decoded($parts[1]), true);
        $claims = json_decode(self::decoded($parts[2]), true);
        if (!is_array($header) || !is_array($claims)) {
            return null;
        }
        $header += ['alg' => null, 'kid' => null, 'typ' => 'JWT'];
        // the algorithm is ours to choose, whatever a token asks for
        $isCritical = array_key_exists('crit', $header);
        if ($header['alg'] !== 'RS256' || $header['typ'] !== $typ || $isCritical) {
            return null;
        }
        $key = is_string($header['kid']) ? $this->keyFor($header['kid']) : null;
        $signature = self::decoded($parts[3]);
        if (!$key || openssl_verify("$parts[1].$parts[2]", $signature, $key, 'sha256') !== 1) {
            return null;
        }
        $claims += ['iss' => null, 'aud' => null, 'exp' => null, 'iat' => null];
        foreach ($names as $name) {
            if (!is_string($claims[$name] ?? null) || $claims[$name] === '') {
                return null;
            }
        }
        $isOurs = $claims['iss'] === "$this->baseUrl/auth/realms/$this->tenantId"
            && $claims['aud'] === "$this->tenantId-user"
            && is_int($claims['exp']) && $claims['exp'] > time()
            && is_int($claims['iat']) && $claims['iat'] <= time() + 60;
        return $isOurs ? $claims : null;
    }

    /** A key that was rotated in since is fetched when it first appears: every 10 s at most. */
    private function keyFor(string $kid): ?OpenSSLAsymmetricKey
    {
        $file = is_file($this->keyFile) ? file_get_contents($this->keyFile) : '';
        $installed = $this->keysByKid($file);
        $key = $installed[$kid] ?? $this->keysByKid(Cache::get('service-keys', ''))[$kid] ?? null;
        if ($key === null && Cache::add('service-keys-asked', true, 10)) {
            try {
                $url = "$this->baseUrl/tenants/$this->tenantId/public-key";
                $answer = Http::timeout(5)->accept('application/x-pem-file')->get($url);
                $pems = $answer->throw()->body();
                Cache::forever('service-keys', $pems);
                $key = $this->keysByKid($pems)[$kid] ?? null;
            } catch (Throwable $error) {
                report($error);
            }
        }
        return $key;
    }

    /** A kid is the RFC 7638 thumbprint of its key, so a PEM needs no name. */
    private function keysByKid(string $pems): array
    {
        $keys = [];
        preg_match_all('/-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/', $pems, $found);
        foreach ($found[0] as $pem) {
            $key = openssl_pkey_get_public($pem);
            $rsa = $key === false ? null : (openssl_pkey_get_details($key)['rsa'] ?? null);
            if ($rsa !== null) {
                [$e, $n] = [self::encoded($rsa['e']), self::encoded($rsa['n'])];
                $text = json_encode(['e' => $e, 'kty' => 'RSA', 'n' => $n]);
                $keys[self::encoded(hash('sha256', $text, true))] = $key;
            }
        }
        return $keys;
    }

    private static function decoded(string $text): string
    {
        return (string) base64_decode(strtr($text, '-_', '+/'), true);
    }

    private static function encoded(string $bytes): string
    {
        return rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
    }
}
`

export const PHP: Readonly<Record<string, FrameworkSnippet>> = {
  laravel: {
    name: 'Laravel',
    language: 'php',
    modes: ['gateway', 'connector'],
    // in every new project, and asked for by those that were slimmed down
    edge: {
      install: 'composer require guzzlehttp/guzzle',
      file: 'app/Http/Middleware/ServiceClaims.php',
      code: CODE,
    },
  },
}
