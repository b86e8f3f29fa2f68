/** What to paste where, so that a provider pushes people and groups. */
import { html } from 'hono/html'
import type { Html } from '../../../pages/html.ts'
import { copyable } from '../../blocks/text.ts'

const PROVIDERS = [
  {
    label: 'Microsoft Entra ID',
    steps: [
      'In the Microsoft Entra admin center, open Enterprise applications and your application (or create one: New application › Create your own application).',
      'Open Provisioning › Get started, and set the provisioning mode to Automatic.',
      'Under Admin credentials, paste the base address into Tenant URL and the token into Secret token. Select Test connection, then Save.',
      'Under Mappings › Provision Microsoft Entra ID Users, map objectId to externalId, so that people can sign in through a connection. Keep userName, active, displayName, emails[type eq "work"].value, name.givenName and name.familyName.',
      'Assign the people and groups to provision under Users and groups, then select Start provisioning.',
    ],
  },
  {
    label: 'Okta',
    steps: [
      'In the Okta admin console, open your application, then General › App settings › Edit, and turn on SCIM provisioning.',
      'On the Provisioning tab, paste the base address into SCIM connector base URL and enter userName as the unique identifier field.',
      'Select Push New Users, Push Profile Updates and Push Groups. As the authentication mode, choose HTTP Header and paste the token. Select Test Connector Configuration, then Save.',
      'Under Provisioning › To App, turn on Create Users, Update User Attributes and Deactivate Users. Leave Sync Password off: passwords are never taken from a provider.',
      'Assign people on the Assignments tab, and groups on the Push Groups tab.',
    ],
  },
] as const

export const guidance = (base: string): Html =>
  html`<p>
      Your provider creates people here, keeps them up to date, and signs them out everywhere at once
      when they leave.
    </p>
    ${copyable(base, 'Base address')}
    ${PROVIDERS.map(
      ({ label, steps }) =>
        html`<details>
          <summary>${label}</summary>
          <ol class="numbered">
            ${steps.map((step) => html`<li>${step}</li>`)}
          </ol>
        </details>`,
    )}`
