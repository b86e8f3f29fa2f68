/** Packages of Python by which an application signs people in. */
import type { Place } from '../application.ts'
import { clue, type Clue } from '../assemble.ts'
import { needed } from '../manifests/dependencies.ts'
import { hits, placeAt } from '../source/source.ts'
import type { PythonCode } from './python-modules.ts'

/** Imported by their own name. */
const OF_THEIR_NAME = `dj-rest-auth djoser mozilla-django-oidc flask-login flask-security
  flask-jwt-extended flask-httpauth flask-dance flask-oidc flask-session authlib fastapi-users
  fastapi-azure-auth msal supertokens-python`.split(/\s+/)

/** By the name of a dependency the module that is imported of it. */
const MODULES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(OF_THEIR_NAME.map((name) => [name, name.replaceAll('-', '_')])),
  'django-allauth': 'allauth',
  'django-oauth-toolkit': 'oauth2_provider',
  'djangorestframework-simplejwt': 'rest_framework_simplejwt',
  'social-auth-app-django': 'social_django',
  'django-two-factor-auth': 'two_factor',
  'flask-security-too': 'flask_security',
  'python-jose': 'jose',
  pyjwt: 'jwt',
  'python-keycloak': 'keycloak',
}

const ofModule = (name: string) => name.slice(0, name.search(/\.|$/))

/** Of INSTALLED_APPS: what it is a part of, or what Django and its neighbours bring along. */
export function signInOfApp(app: string): string | undefined {
  if (/^(?:django\.contrib\.auth|rest_framework\.authtoken)$/.test(app)) return app
  return Object.keys(MODULES).find((name) => MODULES[name] === ofModule(app))
}

/** What the code imports is used; what is a dependency only, likely. */
export function packagesOfSignIn(part: PythonCode): Clue<string>[] {
  const found: Clue<string>[] = []
  for (const [name, module] of Object.entries(MODULES)) {
    const dependency = needed(part.dependencies, name)
    const at = importOf(part, module)
    // our own middleware needs PyJWT, and is nobody's sign-in
    if (name === 'pyjwt' && at === null && part.sources.some(isOurs)) continue
    // names that several packages are imported by count where the manifest says which it is
    if (dependency === null && (at === null || part.dependencies.size > 0)) continue
    found.push(
      at === null
        ? clue(name, dependency?.at ?? null, 'likely', 'It is a dependency.')
        : clue(name, at, 'sure', 'The code imports it.'),
    )
  }
  return found
}

const isOurs = ({ path }: { readonly path: string }) => /(?:^|\/)service_claims\.py$/.test(path)

function importOf(part: PythonCode, module: string): Place | null {
  for (const source of part.sources.filter((source) => !isOurs(source)))
    for (const { index, match } of hits(source, /^[ \t]*(?:from|import)\s+([\w.]+)/m))
      if (ofModule(match[1] ?? '') === module) return placeAt(source, index)
  return null
}
