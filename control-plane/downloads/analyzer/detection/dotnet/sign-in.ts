/** Packages and calls by which an ASP.NET Core application signs people in. */
import type { Clue } from '../assemble.ts'
import { firstHit, placeAt, type Source } from '../source/source.ts'
import type { DotnetProject } from './projects.ts'

const PACKAGES: readonly (readonly [RegExp, string])[] = [
  [/^Microsoft\.AspNetCore\.Identity\b/, 'aspnet-identity'],
  [/^Microsoft\.AspNetCore\.Authentication\.JwtBearer$/, 'jwt-bearer'],
  [/^Microsoft\.AspNetCore\.Authentication\.OpenIdConnect$/, 'openid-connect'],
  [
    /^Microsoft\.AspNetCore\.Authentication\.(?:Google|Facebook|MicrosoftAccount|Twitter)$/,
    'aspnet-authentication',
  ],
  [/^Microsoft\.Identity\.Web\b/, 'microsoft-identity-web'],
  [/^(?:Duende\.)?IdentityServer4?\b/, 'identity-server'],
  [/^OpenIddict\b/, 'openiddict'],
  [/^Auth0\.AspNetCore\b/, 'auth0'],
  [/^Okta\.AspNetCore$/, 'okta'],
  [/^Keycloak\.AuthServices\b/, 'keycloak'],
]

const CALLS: readonly (readonly [RegExp, string])[] = [
  [/\.\s*Add(?:Default)?Identity(?:Core|ApiEndpoints)?\s*[<(]/, 'aspnet-identity'],
  [/\.\s*AddJwtBearer\s*\(/, 'jwt-bearer'],
  [/\.\s*AddOpenIdConnect\s*\(/, 'openid-connect'],
  [/\.\s*AddCookie\s*\(/, 'cookie-authentication'],
  [/\.\s*AddMicrosoftIdentityWeb(?:App|Api)\b/, 'microsoft-identity-web'],
]

/** What is called is used; what is a package only, likely. */
export function signInOf({ packages }: DotnetProject, sources: readonly Source[]): Clue<string>[] {
  const called: Clue<string>[] = CALLS.flatMap(([pattern, value]) => {
    for (const source of sources) {
      const hit = firstHit(source, pattern)
      if (hit !== null)
        return [
          {
            value,
            at: placeAt(source, hit.index),
            confidence: 'sure' as const,
            detail: 'The code calls for it.',
          },
        ]
    }
    return []
  })
  const named: Clue<string>[] = PACKAGES.flatMap(([pattern, value]) => {
    const found = packages.find(({ name }) => pattern.test(name))
    return found === undefined
      ? []
      : [{ value, at: found.at, confidence: 'likely' as const, detail: 'It is a dependency.' }]
  })
  return [...called, ...named]
}
