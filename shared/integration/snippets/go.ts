/** Go: the standard library alone, since RS256 by a key that is known is a hash and one call. */
import type { FrameworkSnippet } from './snippet.ts'

const CODE = String.raw`// Run it with: go run main.go
//
// Believes nothing but the signature of X-Service-Claims, and answers the service's probes. Let
// only the gateway reach this application all the same: sessions are ended early there, not here.
package main

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var (
	baseURL   = strings.TrimRight(setting("SERVICE_BASE_URL", ""), "/")
	tenantID  = setting("SERVICE_TENANT_ID", "")
	keyFile   = setting("SERVICE_PUBLIC_KEY_FILE", "service_public.pem")
	issuer    = baseURL + "/auth/realms/" + tenantID
	audience  = tenantID + "-user"
	keysURL   = baseURL + "/tenants/" + tenantID + "/public-key"
	base64url = base64.RawURLEncoding.Strict()
)

// setting is what the environment says, and otherwise what is named here.
func setting(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

type keySet map[string]*rsa.PublicKey

var (
	installed    keySet
	fetched      atomic.Pointer[keySet]
	fetching     sync.Mutex
	fetchAgainAt time.Time
	client       = http.Client{Timeout: 5 * time.Second}
)

// Claims of a user: sub, sid, name, email and what else the service signed.
type Claims map[string]any

type userKey struct{}

// UserOf is there for every handler behind ServiceClaims.
func UserOf(r *http.Request) Claims {
	user, _ := r.Context().Value(userKey{}).(Claims)
	return user
}

// ServiceClaims hands on to next what is signed, and nothing else.
func ServiceClaims(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if probes := r.Header.Values("X-Service-Probe"); len(probes) > 0 {
			status, reply := answerTo(probes)
			w.Header().Set("X-Service-Probe-Reply", reply)
			w.WriteHeader(status)
			return
		}
		user := proven(r.Header.Values("X-Service-Claims"), "JWT", "sub", "sid")
		if user == nil {
			http.Error(w, "This request carries no valid sign-in. Open the application at its public address.", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), userKey{}, user)))
	})
}

func answerTo(probes []string) (status int, reply string) {
	probe := proven(probes, "service-probe+jwt", "nonce")
	if probe == nil || probe["exp"].(float64)-probe["iat"].(float64) > 60 {
		return http.StatusUnauthorized, ""
	}
	return http.StatusNoContent, probe["nonce"].(string)
}

// proven answers the claims that the service signed for this application, or nil.
func proven(lines []string, typ string, names ...string) Claims {
	if len(lines) != 1 || strings.Count(lines[0], ".") != 2 {
		return nil
	}
	parts := strings.Split(lines[0], ".")
	header := map[string]any{"typ": "JWT"} // where it says nothing else
	if decode(parts[0], &header) != nil || header["alg"] != "RS256" || header["typ"] != typ {
		return nil
	}
	kid, _ := header["kid"].(string)
	key := keyFor(kid)
	if _, isCritical := header["crit"]; isCritical || key == nil {
		return nil
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	signature, err := base64url.DecodeString(parts[2])
	if err != nil || rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], signature) != nil {
		return nil
	}
	var claims Claims
	if decode(parts[1], &claims) != nil || claims["iss"] != issuer || claims["aud"] != audience {
		return nil
	}
	now := float64(time.Now().Unix())
	exp, expires := claims["exp"].(float64)
	iat, isDated := claims["iat"].(float64)
	if !expires || !isDated || exp <= now || iat > now+60 {
		return nil
	}
	for _, name := range names {
		if text, _ := claims[name].(string); text == "" {
			return nil
		}
	}
	return claims
}

func decode(part string, into any) error {
	text, err := base64url.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// keyFor fetches a key that was rotated in since the start: every 10 s at most.
func keyFor(kid string) *rsa.PublicKey {
	if key := known(kid); key != nil {
		return key
	}
	fetching.Lock()
	defer fetching.Unlock()
	if known(kid) == nil && time.Now().After(fetchAgainAt) {
		fetchAgainAt = time.Now().Add(10 * time.Second)
		if keys, err := fetchKeys(); err == nil {
			fetched.Store(&keys)
		} else {
			log.Printf("could not fetch the public keys: %v", err)
		}
	}
	return known(kid)
}

func known(kid string) *rsa.PublicKey {
	if key := installed[kid]; key != nil {
		return key
	}
	if keys := fetched.Load(); keys != nil {
		return (*keys)[kid]
	}
	return nil
}

func fetchKeys() (keySet, error) {
	request, err := http.NewRequest("GET", keysURL, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/x-pem-file")
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s", keysURL, answer.Status)
	}
	pems, err := io.ReadAll(io.LimitReader(answer.Body, 65536))
	if err != nil {
		return nil, err
	}
	return keysByKid(pems)
}

// keysByKid needs no names: a kid is the RFC 7638 thumbprint of its key.
func keysByKid(pems []byte) (keySet, error) {
	keys := keySet{}
	for block, rest := pem.Decode(pems); block != nil; block, rest = pem.Decode(rest) {
		parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, err
		}
		key, isRSA := parsed.(*rsa.PublicKey)
		if !isRSA {
			return nil, fmt.Errorf("a %T is no RSA key", parsed)
		}
		e := base64url.EncodeToString(big.NewInt(int64(key.E)).Bytes())
		n := base64url.EncodeToString(key.N.Bytes())
		digest := sha256.Sum256([]byte(fmt.Sprintf("{%q:%q,%q:%q,%q:%q}", "e", e, "kty", "RSA", "n", n)))
		keys[base64url.EncodeToString(digest[:])] = key
	}
	return keys, nil
}

func main() {
	if baseURL == "" || tenantID == "" {
		log.Fatal("SERVICE_BASE_URL and SERVICE_TENANT_ID must be set")
	}
	pems, err := os.ReadFile(keyFile)
	if err == nil {
		installed, err = keysByKid(pems)
	}
	if err != nil && !os.IsNotExist(err) {
		log.Fatal(err)
	}

	pages := http.NewServeMux()
	pages.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "Hello %s\n", UserOf(r)["name"])
	})
	log.Fatal(http.ListenAndServe(":"+setting("PORT", "3000"), ServiceClaims(pages)))
}
`

export const GO: Readonly<Record<string, FrameworkSnippet>> = {
  go: {
    name: 'Go (net/http)',
    language: 'go',
    modes: ['gateway', 'connector'],
    edge: { install: 'go mod init application', file: 'main.go', code: CODE },
  },
}
