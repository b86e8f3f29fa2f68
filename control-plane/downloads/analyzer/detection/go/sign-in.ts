/** Modules of Go by which an application signs people in. */

export const SIGN_IN_MODULES: readonly (readonly [RegExp, string])[] = [
  [/^github\.com\/gorilla\/sessions\b/, 'gorilla/sessions'],
  [/^github\.com\/alexedwards\/scs\b/, 'scs'],
  [/^github\.com\/markbates\/goth\b/, 'goth'],
  [/^github\.com\/golang-jwt\/jwt\b/, 'golang-jwt'],
  [/^github\.com\/dgrijalva\/jwt-go\b/, 'jwt-go'],
  [/^github\.com\/lestrrat-go\/jwx\b/, 'jwx'],
  [/^github\.com\/go-jose\/go-jose\b/, 'go-jose'],
  [/^github\.com\/coreos\/go-oidc\b/, 'go-oidc'],
  [/^github\.com\/zitadel\/oidc\b/, 'zitadel/oidc'],
  [/^golang\.org\/x\/oauth2\b/, 'oauth2'],
  [/^github\.com\/gin-contrib\/sessions\b/, 'gin-contrib/sessions'],
  [/^github\.com\/appleboy\/gin-jwt\b/, 'gin-jwt'],
  [/^github\.com\/labstack\/echo-jwt\b/, 'echo-jwt'],
  [/^github\.com\/labstack\/echo-contrib\b/, 'echo-contrib'],
  [/^github\.com\/go-chi\/jwtauth\b/, 'chi/jwtauth'],
  [/^github\.com\/volatiletech\/authboss\b/, 'authboss'],
  [/^github\.com\/ory\//, 'ory'],
  [/^github\.com\/auth0\//, 'auth0'],
  [/^github\.com\/clerk\//, 'clerk'],
]
