/** Sign-in that an application has already, told by what it imports. */
import type { Finding } from '../application.ts'
import { finding } from '../assemble.ts'
import { importedIn, type Reach } from './codebase.ts'
import { manifestPlace, type NodePackage } from './packages.ts'

/** What each does, for people to know what will be there twice. */
const KNOWN: readonly (readonly [RegExp, string])[] = [
  [/^passport$|^passport-|^koa-passport$|^@fastify\/passport$|^@nestjs\/passport$/, 'passport'],
  [/^express-session$|^koa-session$|^koa-generic-session$/, 'express-session'],
  [/^@fastify\/(?:secure-)?session$/, '@fastify/session'],
  [/^cookie-session$/, 'cookie-session'],
  [/^client-sessions$/, 'client-sessions'],
  [/^hono-sessions$/, 'hono-sessions'],
  [/^iron-session$/, 'iron-session'],
  [/^next-auth$/, 'next-auth'],
  [/^@auth\//, '@auth'],
  [/^lucia$|^lucia-auth$|^@lucia-auth\//, 'lucia'],
  [/^better-auth$/, 'better-auth'],
  [/^jsonwebtoken$/, 'jsonwebtoken'],
  [/^express-jwt$/, 'express-jwt'],
  [/^koa-jwt$/, 'koa-jwt'],
  [/^@fastify\/jwt$|^fastify-jwt$/, '@fastify/jwt'],
  [/^@nestjs\/jwt$/, '@nestjs/jwt'],
  [/^hono\/(?:jwt|basic-auth|bearer-auth|jwk)$/, 'hono'],
  [/^@hono\/(?:clerk-auth|auth-js|oidc-auth|oauth-providers|session)$/, '@hono auth'],
  [/^jose$/, 'jose'],
  [/^keycloak-connect$|^nest-keycloak-connect$|^keycloak-js$/, 'keycloak'],
  [/^express-openid-connect$/, 'express-openid-connect'],
  [/^express-oauth2-jwt-bearer$|^@auth0\//, 'auth0'],
  [/^openid-client$/, 'openid-client'],
  [/^oidc-provider$/, 'oidc-provider'],
  [/^@clerk\//, 'clerk'],
  [/^supertokens-node$|^supertokens-auth-react$/, 'supertokens'],
  [/^@supabase\/(?:ssr|auth-helpers-.+)$/, 'supabase'],
  [/^firebase-admin\/auth$/, 'firebase'],
  [/^@okta\/(?:oidc-middleware|jwt-verifier)$/, 'okta'],
  [/^@azure\/msal-node$|^passport-azure-ad$/, 'msal'],
  [/^@workos-inc\//, 'workos'],
  [/^@kinde-oss\//, 'kinde'],
  [/^@logto\//, 'logto'],
  [/^@descope\//, 'descope'],
  [/^@ory\//, 'ory'],
  [/^@stytch\/|^stytch$/, 'stytch'],
  [/^grant$/, 'grant'],
  [/^simple-oauth2$/, 'simple-oauth2'],
  [/^@node-saml\/|^samlify$/, 'saml'],
  [/^express-basic-auth$|^@fastify\/basic-auth$|^koa-basic-auth$|^basic-auth$/, 'basic-auth'],
]

export function signInOf(reach: Reach, one: NodePackage): Finding[] {
  const byName = new Map<string, Finding>()
  for (const { module, at } of importedIn(reach)) {
    const name = nameOf(module)
    const detail = `${module} is imported here. Users may have to sign in twice until the application takes their identity from the service.`
    if (name !== undefined && !byName.has(name))
      byName.set(name, finding('sign_in', name, at, 'sure', detail))
  }
  const at = manifestPlace(one)
  for (const [dependency, { kind }] of one.manifest.dependencies) {
    const name = nameOf(dependency)
    const detail = `${dependency} is listed in package.json, but no analyzed file imports it.`
    if (name !== undefined && !byName.has(name) && kind !== 'devDependencies')
      byName.set(name, finding('sign_in', name, at, 'guess', detail))
  }
  return [...byName.values()]
}

function nameOf(module: string): string | undefined {
  return KNOWN.find(([pattern]) => pattern.test(module) || pattern.test(packageName(module)))?.[1]
}

/** `next-auth/providers/github` is of `next-auth`. */
function packageName(module: string): string {
  const [first = '', second = ''] = module.split('/')
  return first.startsWith('@') ? `${first}/${second}` : first
}
