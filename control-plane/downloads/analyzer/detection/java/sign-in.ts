/** Libraries by which a Spring application signs people in. */
import type { Clue } from '../assemble.ts'
import type { JavaModule } from './builds.ts'

const ARTIFACTS: readonly (readonly [RegExp, string])[] = [
  [/:spring-boot-starter-security$/, 'spring-security'],
  [/:spring-security-(?:web|config)$/, 'spring-security'],
  [/:spring-boot-starter-(?:security-)?oauth2-client$/, 'spring-security-oauth2-client'],
  [
    /:spring-boot-starter-(?:security-)?oauth2-resource-server$/,
    'spring-security-oauth2-resource-server',
  ],
  [
    /:spring-boot-starter-(?:security-)?oauth2-authorization-server$/,
    'spring-authorization-server',
  ],
  [/:spring-session-[\w-]+$/, 'spring-session'],
  [/:keycloak-[\w-]*adapter$|:keycloak-spring-boot-starter$/, 'keycloak'],
  [/^io\.jsonwebtoken:jjwt/, 'jjwt'],
  [/^com\.auth0:/, 'auth0'],
  [/:okta-spring-boot-starter$/, 'okta'],
  [/^org\.pac4j:/, 'pac4j'],
  [/^org\.apache\.shiro:/, 'shiro'],
]

export function signInOf(bases: readonly JavaModule[]): Clue<string>[] {
  const needed = bases.flatMap(({ dependencies }) => dependencies).filter(({ isDev }) => !isDev)
  return ARTIFACTS.flatMap(([pattern, value]) => {
    const found = needed.find(({ name }) => pattern.test(name))
    const detail = 'It is a dependency.'
    return found === undefined
      ? []
      : [{ value, at: found.at, confidence: 'likely' as const, detail }]
  })
}
