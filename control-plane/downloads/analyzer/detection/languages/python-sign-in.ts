/** Packages of Python by which an application signs people in. */
import type { Place } from '../application.ts'
import type { Clue } from '../assemble.ts'
import { needed } from '../manifests/dependencies.ts'
import { hits, placeAt } from '../source/source.ts'
import type { PythonCode } from './python-modules.ts'

/** By the name of a dependency, and the modules that are imported from it. */
const SIGN_IN_PACKAGES: Readonly<Record<string, RegExp>> = {
  'django-allauth': /^allauth\b/,
  'django-oauth-toolkit': /^oauth2_provider\b/,
  'djangorestframework-simplejwt': /^rest_framework_simplejwt\b/,
  'dj-rest-auth': /^dj_rest_auth\b/,
  djoser: /^djoser\b/,
  'mozilla-django-oidc': /^mozilla_django_oidc\b/,
  'social-auth-app-django': /^social_django\b/,
  'django-two-factor-auth': /^two_factor\b/,
  'flask-login': /^flask_login\b/,
  'flask-security': /^flask_security\b/,
  'flask-security-too': /^flask_security\b/,
  'flask-jwt-extended': /^flask_jwt_extended\b/,
  'flask-httpauth': /^flask_httpauth\b/,
  'flask-dance': /^flask_dance\b/,
  'flask-oidc': /^flask_oidc\b/,
  'flask-session': /^flask_session\b/,
  authlib: /^authlib\b/,
  'fastapi-users': /^fastapi_users\b/,
  'fastapi-azure-auth': /^fastapi_azure_auth\b/,
  'python-jose': /^jose\b/,
  pyjwt: /^jwt\b/,
  msal: /^msal\b/,
  'python-keycloak': /^keycloak\b/,
  'supertokens-python': /^supertokens_python\b/,
}

/** Of Django itself and its neighbours, by what INSTALLED_APPS names. */
export const DJANGO_SIGN_IN: Readonly<Record<string, string>> = {
  'django.contrib.auth': 'django.contrib.auth',
  allauth: 'django-allauth',
  oauth2_provider: 'django-oauth-toolkit',
  rest_framework_simplejwt: 'djangorestframework-simplejwt',
  'rest_framework.authtoken': 'rest_framework.authtoken',
  dj_rest_auth: 'dj-rest-auth',
  djoser: 'djoser',
  mozilla_django_oidc: 'mozilla-django-oidc',
  social_django: 'social-auth-app-django',
  two_factor: 'django-two-factor-auth',
}

/** What the code imports is used; what is a dependency only, likely. */
export function packagesOfSignIn(part: PythonCode): Clue<string>[] {
  const found: Clue<string>[] = []
  for (const [name, module] of Object.entries(SIGN_IN_PACKAGES)) {
    const dependency = needed(part.dependencies, name)
    const at = importOf(part, module)
    // our own middleware needs PyJWT, and is nobody's sign-in
    if (name === 'pyjwt' && at === null && part.sources.some(isOurs)) continue
    // names that several packages are imported by count where the manifest says which it is
    if (dependency === null && (at === null || part.dependencies.size > 0)) continue
    found.push({
      value: name,
      at: at ?? dependency?.at ?? null,
      confidence: at === null ? 'likely' : 'sure',
      detail: at === null ? 'It is a dependency.' : 'The code imports it.',
    })
  }
  return found
}

const isOurs = ({ path }: { readonly path: string }) => /(?:^|\/)service_claims\.py$/.test(path)

function importOf(part: PythonCode, module: RegExp): Place | null {
  for (const source of part.sources.filter((source) => !isOurs(source)))
    for (const { index, match } of hits(source, /^[ \t]*(?:from|import)\s+([\w.]+)/m))
      if (module.test(match[1] ?? '')) return placeAt(source, index)
  return null
}
