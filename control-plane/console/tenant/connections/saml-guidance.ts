/** What to do for SAML at each provider, and what to paste where. */
import { html } from 'hono/html'
import type { Html } from '../../../pages/html.ts'

interface SamlGuidance {
  readonly label: string
  readonly steps: readonly string[]
  /** Where our two addresses go. */
  readonly entityId: string
  readonly acsUrl: string
  /** Which attribute identifies people, and which names their groups. */
  readonly fields: string
}

const PROVIDERS: readonly SamlGuidance[] = [
  {
    label: 'Microsoft Entra ID',
    steps: [
      'In the Microsoft Entra admin center, open Enterprise applications › New application › Create your own application, of the kind that is not in the gallery.',
      'Open Single sign-on › SAML. Under SAML Certificates, copy the App Federation Metadata Url into Metadata address below.',
      'Under Attributes & Claims, set the name identifier format of the Unique User Identifier to Persistent, or enter http://schemas.microsoft.com/identity/claims/objectidentifier as the identifying attribute below.',
      'Assign the people who may sign in under Users and groups.',
    ],
    entityId: 'Basic SAML Configuration › Identifier (Entity ID)',
    acsUrl: 'Basic SAML Configuration › Reply URL (Assertion Consumer Service URL)',
    fields:
      'Groups: add a group claim, and enter http://schemas.microsoft.com/ws/2008/06/identity/claims/groups. Its values are object IDs.',
  },
  {
    label: 'Okta',
    steps: [
      'In the Okta admin console, open Applications › Create App Integration › SAML 2.0. Enter any https:// address for now.',
      'Set Name ID format to Persistent. Under Attribute Statements, add id with the value user.getInternalProperty("id") and email with the value user.email.',
      'Open the tab Sign On and copy the Metadata URL into Metadata address below. Enter id as the identifying attribute.',
    ],
    entityId: 'General › SAML Settings › Audience URI (SP Entity ID)',
    acsUrl: 'General › SAML Settings › Single sign-on URL',
    fields:
      'Groups: add a group attribute statement named groups with the filter “Matches regex .*”, and enter groups. Leave Assertion Encryption off.',
  },
  {
    label: 'Google Workspace',
    steps: [
      'In the Google Admin console, open Apps › Web and mobile apps › Add app › Add custom SAML app.',
      'Select Download metadata and upload the file below.',
      'Under Attribute mapping, map Employee ID to employee_id and Primary email to email, and enter employee_id as the identifying attribute. Each person needs an employee ID that never changes.',
      'Turn the app on for the people who may sign in.',
    ],
    entityId: 'Service provider details › Entity ID',
    acsUrl: 'Service provider details › ACS URL',
    fields:
      'Groups: under Group membership, select the groups and name the app attribute groups, and enter groups. Tick Signed response only if you want both signed.',
  },
  {
    label: 'AD FS',
    steps: [
      'The metadata is at https://YOUR-ADFS/FederationMetadata/2007-06/FederationMetadata.xml. Paste that address below if it is reachable from the internet; upload the file otherwise.',
      'Once the connection is created, open Relying Party Trusts › Add Relying Party Trust and import our metadata from its address.',
      'Add issuance rules that send E-Mail-Addresses as E-Mail Address and objectGUID, as an attribute named objectguid. Enter objectguid as the identifying attribute.',
    ],
    entityId: 'Relying party trust › Identifiers',
    acsUrl: 'Relying party trust › Endpoints › SAML Assertion Consumer, with the binding POST',
    fields:
      'Groups: send Token-Groups – Unqualified Names as Group, and enter http://schemas.xmlsoap.org/claims/Group. Do not set an encryption certificate.',
  },
  {
    label: 'Another provider',
    steps: [
      'Register a SAML 2.0 service provider that receives responses by HTTP-POST, signed with RSA or ECDSA and SHA-256 or more, without encryption.',
      'Copy the address of its metadata below, or upload it as a file.',
    ],
    entityId: 'the entity ID, or audience, of the service provider',
    acsUrl: 'the assertion consumer service URL',
    fields: 'Send a persistent NameID, the email address, a display name and, if you like, groups.',
  },
]

export const samlSteps = (): Html =>
  html`<p>
      Choose your provider. It needs two addresses from us, which you get once the connection is
      created.
    </p>
    ${PROVIDERS.map(
      ({ label, steps, fields }) =>
        html`<details class="folded">
          <summary>${label}</summary>
          <ol class="numbered">
            ${steps.map((step) => html`<li>${step}</li>`)}
          </ol>
          <p>${fields}</p>
        </details>`,
    )}`

export const samlPlaces = (): Html =>
  html`<details class="folded">
    <summary>Where each of them goes</summary>
    <dl>
      ${PROVIDERS.map(
        ({ label, entityId, acsUrl }) =>
          html`<dt>${label}</dt>
            <dd>Entity ID: ${entityId}.<br />ACS URL: ${acsUrl}.</dd>`,
      )}
    </dl>
  </details>`
