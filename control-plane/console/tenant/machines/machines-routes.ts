/** Machines: programs that open the application with an id and a secret, by what access rules say. */
import { html } from 'hono/html'
import { issuerOf } from '../../../../shared/issuer.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { NewMachineBody, NewMachineSecretBody } from '../../../requests/machine-fields.ts'
import { textField, type Attempt } from '../../../pages/blocks/field.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import type { Html } from '../../../pages/html.ts'
import { freshSignInNotice } from '../../access/fresh-sign-in.ts'
import { asking } from '../../asking.ts'
import { form } from '../../blocks/form.ts'
import { emptyState } from '../../blocks/table.ts'
import { card, copyable, moment } from '../../blocks/text.ts'
import { TENANT_PATH, tenantPath } from '../../navigation.ts'
import { action, done, page, type ConsoleRoute, type TenantVisit, type View } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { machineKeyRoutes } from './machine-key-routes.ts'
import { machineCard } from './machine-list.ts'

const PATH = `${TENANT_PATH}/machines` as const
const ONE = `${PATH}/{service_id}` as const
const OF_ONE = { role: 'tenant', here: 'machines', needsFreshSignIn: true } as const

export function machinesRoutes({
  machines,
  baseUrl,
}: Pick<ConsoleWorld, 'machines' | 'baseUrl'>): readonly ConsoleRoute[] {
  const at = ({ tenant: { tenantId } }: TenantVisit) => tenantPath(tenantId, 'machines')

  async function show(visit: TenantVisit, attempt?: Attempt): Promise<View> {
    const { tenant, proofs } = visit
    const all = await machines.list(tenant.tenantId)
    const api = apiOf(tenant.tenantId)
    return {
      title: 'Machines',
      here: 'machines',
      intro: `Programs that use ${tenant.name} without a person, such as CI jobs and webhooks. Each has an ID and a secret, and opens only what an access rule names it for.`,
      content: html`${freshSignInNotice(visit)}
        ${
          all.length === 0
            ? emptyState(
                'No machines yet',
                'Add one for each program, so that you can revoke its access alone.',
                proofs.isReadOnly ? undefined : linkButton('#add', 'Add the first one'),
              )
            : ''
        }
        ${all.map((machine) => machineCard(visit, machine, `${at(visit)}/${machine.serviceId}`))}
        ${proofs.isReadOnly ? '' : card('Add a machine', addForm(visit, attempt), 'add')}`,
      calls: [
        { method: 'GET', path: api },
        { method: 'POST', path: api, body: { name: 'CI' } },
        {
          method: 'POST',
          path: `${api}/{service_id}/secrets`,
          body: { expires_in: LIMITS.serviceSecretSecondsDefault },
        },
      ],
    }
  }

  return [
    page({ path: PATH, role: 'tenant' }, (visit) => show(visit)),
    action(
      {
        path: PATH,
        role: 'tenant',
        form: { name: 'text' },
        body: NewMachineBody,
        isOnce: true,
        needsFreshSignIn: true,
      },
      async (visit, body) => {
        const { tenantId } = visit.tenant
        const { serviceId, name } = await machines.create(tenantId, body.name, visit.actor)
        return done(`${at(visit)}#${serviceId}`, `${name} added. Create its first secret.`, {
          changed: tenantId,
        })
      },
      show,
    ),
    action(
      {
        path: `${ONE}/secrets`,
        role: 'tenant',
        form: { expires_in: 'whole' },
        body: NewMachineSecretBody,
        isOnce: true,
        needsFreshSignIn: true,
      },
      async (visit, { expires_in: seconds }) => {
        const { tenant, path, actor } = visit
        const { tenantId } = tenant
        const made = await machines.addSecret(tenantId, path.service_id, seconds, actor)
        const tokenUrl = `${issuerOf(baseUrl, tenantId)}/token`
        return secretView(visit, { ...made, serviceId: path.service_id, tokenUrl }, at(visit))
      },
      show,
    ),
    ...machineKeyRoutes({ machines }),
    action({ path: `${ONE}/enable`, role: 'tenant', needsFreshSignIn: true }, async (visit) => {
      const { tenantId } = visit.tenant
      const { service_id: serviceId } = visit.path
      const change = { isDisabled: false }
      const { name } = await machines.update(tenantId, serviceId, change, visit.actor)
      return done(at(visit), `${name} enabled.`, { changed: tenantId })
    }),
    ...asking(
      { ...OF_ONE, path: `${ONE}/disable` },
      async (visit) => {
        const { tenantId } = visit.tenant
        const { name } = await machines.one(tenantId, visit.path.service_id)
        return {
          title: `Disable ${name}?`,
          effects: [
            'Every gateway refuses it and its tokens at once, and what it has open ends within a second.',
            'Its secrets stay, and work again once you enable it.',
          ],
          submit: 'Disable machine',
          cancel: at(visit),
        }
      },
      async (visit) => {
        const { tenantId } = visit.tenant
        const change = { isDisabled: true }
        const { name } = await machines.update(tenantId, visit.path.service_id, change, visit.actor)
        return done(at(visit), `${name} disabled.`, { changed: tenantId })
      },
    ),
    ...asking(
      { ...OF_ONE, path: `${ONE}/delete` },
      async (visit) => {
        const { tenantId } = visit.tenant
        const { name } = await machines.one(tenantId, visit.path.service_id)
        return {
          title: `Delete ${name}?`,
          effects: [
            'Its secrets and tokens stop working at once, and what it has open ends within a second.',
            'Its ID is not given to another machine. The audit trail keeps its name.',
          ],
          submit: 'Delete machine',
          cancel: at(visit),
          calls: [{ method: 'DELETE', path: `${apiOf(tenantId)}/${visit.path.service_id}` }],
        }
      },
      async (visit) => {
        const { tenantId } = visit.tenant
        await machines.remove(tenantId, visit.path.service_id, visit.actor)
        return done(at(visit), 'Machine deleted.', { changed: tenantId })
      },
    ),
    ...asking(
      { ...OF_ONE, path: `${ONE}/secrets/{secret_id}/revoke` },
      async (visit) => {
        const { tenantId } = visit.tenant
        const { service_id: serviceId, secret_id: secretId } = visit.path
        const { name, secrets } = await machines.one(tenantId, serviceId)
        const isLast = secrets.every((secret) => secret.secretId === secretId)
        return {
          title: `Revoke a secret of ${name}?`,
          effects: [
            'Every gateway refuses it and the tokens it got at once, and what came in with it ends within a second.',
            ...(isLast
              ? [`It is the only one: ${name} can’t come in until it has a new one.`]
              : []),
          ],
          submit: 'Revoke secret',
          cancel: at(visit),
          calls: [
            { method: 'DELETE', path: `${apiOf(tenantId)}/${serviceId}/secrets/${secretId}` },
          ],
        }
      },
      async (visit) => {
        const { tenantId } = visit.tenant
        const { service_id: serviceId, secret_id: secretId } = visit.path
        await machines.revokeSecret(tenantId, serviceId, secretId, visit.actor)
        return done(at(visit), 'Secret revoked.', { changed: tenantId })
      },
    ),
  ]
}

const apiOf = (tenantId: string) => `/api/v1/operator/tenants/${tenantId}/services`

const addForm = (visit: TenantVisit, attempt: Attempt | undefined): Html =>
  form(visit, {
    action: tenantPath(visit.tenant.tenantId, 'machines'),
    submit: 'Add machine',
    attempt,
    content: textField({
      name: 'name',
      label: 'Name',
      hint: 'For this list and the audit trail, for example CI.',
      charactersMax: LIMITS.serviceNameCharactersMax,
      attempt,
    }),
  })

interface ShownOnce {
  readonly serviceId: string
  readonly secret: string
  readonly endsAt: number
  /** Where the realm gives tokens for it. */
  readonly tokenUrl: string
}

/** The only page that shows it. */
function secretView(
  { tenant }: TenantVisit,
  { serviceId, secret, endsAt, tokenUrl }: ShownOnce,
  back: string,
): View {
  const [hostname] = tenant.hostnames
  const url = hostname === undefined ? tenant.origin : `https://${hostname}`
  return {
    title: 'Machine secret',
    here: 'machines',
    content: html`<div class="card narrow">
      ${notice('success', 'Secret created.')}
      <p>Copy it now: it won’t be shown again. It works until ${moment(endsAt)}.</p>
      ${copyable(secret, 'Secret')}
      <p>The machine sends two headers with each request. Keep the secret out of the command line:</p>
      ${copyable(
        `curl -H 'Service-Client-Id: ${serviceId}' -H @secret-header.txt ${url}/`,
        'Command',
      )}
      <p class="hint">
        <code>secret-header.txt</code> holds one line: <code>Service-Client-Secret: sms_…</code>
      </p>
      <p>A client that speaks OAuth 2.0 gets an access token for ten minutes instead, and sends it as <code>Authorization: Bearer</code>:</p>
      ${copyable(
        `curl -d grant_type=client_credentials -d client_id=${serviceId} --data-urlencode client_secret@secret.txt ${tokenUrl}`,
        'Command for a token',
      )}
      <p class="hint"><code>secret.txt</code> holds the secret alone, without a line break.</p>
      <div class="submit">${linkButton(back, 'Done')}</div>
    </div>`,
  }
}
