/** What to do at each kind of provider, and what to copy from there. */
import { html } from 'hono/html'
import type { Connection } from '../../../connections/connections.ts'
import type { Html } from '../../../pages/html.ts'

interface Guidance {
  readonly label: string
  /** Filled in, where all tenants have the same. */
  readonly issuer: string
  readonly issuerHint: string
  /** One after the other; the last is done once there is a redirect address. */
  readonly steps: readonly string[]
  readonly redirect: string
}

export const GUIDANCE: Readonly<Record<Connection['preset'], Guidance>> = {
  google: {
    label: 'Google Workspace',
    issuer: 'https://accounts.google.com',
    issuerHint: 'The same for everyone.',
    steps: [
      'In the Google Cloud console, open APIs & Services › Credentials.',
      'Select Create credentials › OAuth client ID, with the application type Web application.',
      'Copy the client ID and the client secret into the fields below.',
    ],
    redirect: 'Authorized redirect URIs of the OAuth client',
  },
  entra: {
    label: 'Microsoft Entra ID',
    issuer: '',
    issuerHint:
      'https://login.microsoftonline.com/DIRECTORY-ID/v2.0, with the directory (tenant) ID from the overview of your app registration. “common” does not work.',
    steps: [
      'In the Microsoft Entra admin center, open App registrations › New registration, for accounts in this organizational directory only.',
      'Copy the application (client) ID from its overview.',
      'Under Certificates & secrets, create a client secret and copy its value, not its ID.',
      'Under Token configuration, add the optional claim email to the ID token.',
    ],
    redirect: 'Authentication › Add a platform › Web › Redirect URIs',
  },
  okta: {
    label: 'Okta',
    issuer: '',
    issuerHint:
      'For example https://acme.okta.com, or the issuer URI of a custom authorization server.',
    steps: [
      'In the Okta admin console, open Applications › Create App Integration.',
      'Choose OIDC – OpenID Connect and Web Application.',
      'Copy the client ID and the client secret into the fields below.',
    ],
    redirect: 'Sign-in redirect URIs of the application',
  },
  github: {
    label: 'GitHub',
    issuer: 'https://github.com',
    issuerHint:
      'For GitHub Enterprise Server, its address without a path, for example https://github.acme.com.',
    steps: [
      'On GitHub, open your organization’s Settings › Developer settings › OAuth apps › New OAuth app.',
      'Enter the address of your application as the homepage URL. As the authorization callback URL, enter the same; the next page shows what to replace it with.',
      'Generate a client secret, and copy the client ID and the secret into the fields below.',
      'To admit members of one organization only, name it below. If the organization restricts OAuth apps, approve this one under Third-party access.',
    ],
    redirect: 'Authorization callback URL of the OAuth app',
  },
  oidc: {
    label: 'Other (OpenID Connect)',
    issuer: '',
    issuerHint:
      'Exactly as in the provider’s discovery document at /.well-known/openid-configuration.',
    steps: [
      'Register a confidential web application that uses the authorization code flow.',
      'Allow the scopes openid, profile and email.',
      'Copy the issuer, the client ID and the client secret into the fields below.',
    ],
    redirect: 'the redirect URIs of the application',
  },
  // its pages are its own: `saml-routes.ts`
  saml: { label: 'SAML 2.0', issuer: '', issuerHint: '', steps: [], redirect: 'the ACS URL' },
}

export const stepsOf = (preset: Connection['preset']): Html =>
  html`<ol class="numbered">
    ${GUIDANCE[preset].steps.map((step) => html`<li>${step}</li>`)}
  </ol>`
