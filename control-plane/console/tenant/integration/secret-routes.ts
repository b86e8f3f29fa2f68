/**
 * The two secrets of a tenant: shown and replaced after a fresh sign-in, in the answer to a form
 * that nothing keeps. A secret is in no address, and the audit trail says who has seen it.
 */
import { html } from 'hono/html'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../../../shared/clock.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { AnalyzerKeyRotationBody, SecretRotationBody } from '../../../requests/key-fields.ts'
import type { Tenant } from '../../../store/queries/tenants.ts'
import type { SecretOverlaps } from '../../../tenants/analyzer-keys.ts'
import type { RotatedSecret } from '../../../tenants/client-secrets.ts'
import { clientIdOf } from '../../../tenants/tenants.ts'
import { selectField, type Option, type Attempt } from '../../../pages/blocks/field.ts'
import { form } from '../../blocks/form.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import { receiptBlock } from '../../blocks/receipt.ts'
import { card, copyable, moment } from '../../blocks/text.ts'
import type { Html } from '../../../pages/html.ts'
import { TENANT_PATH, tenantPath } from '../../navigation.ts'
import { action, done, page, type ConsoleRoute, type TenantVisit, type View } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'

interface Kind {
  readonly name: 'analyzer-key' | 'client-secret'
  readonly title: string
  readonly noun: string
  readonly use: (tenant: Pick<Tenant, 'mode' | 'tenantId'>) => string | Html
  /** What a wrong choice costs, beside the choice. */
  readonly hint: string
  readonly body: typeof AnalyzerKeyRotationBody | typeof SecretRotationBody
  readonly untilMs: (overlaps: SecretOverlaps) => number | null
  readonly show: 'showAnalyzerKey' | 'showClientSecret'
  readonly rotate: 'rotateAnalyzerKey' | 'rotateClientSecret'
}

const KINDS: readonly Kind[] = [
  {
    name: 'analyzer-key',
    title: 'Analyzer key',
    noun: 'analyzer key',
    use: () =>
      html`For a CI pipeline, as <code>SERVICE_ANALYZER_KEY</code>. It can read the guide and turn
        protection on and off. <code>service-analyzer setup</code> gets it without you, once you allow it.`,
    hint: 'Gives you time to update your pipelines. No one is signed out.',
    body: AnalyzerKeyRotationBody,
    untilMs: ({ analyzerKeyUntilMs }) => analyzerKeyUntilMs,
    show: 'showAnalyzerKey',
    rotate: 'rotateAnalyzerKey',
  },
  {
    name: 'client-secret',
    title: 'Client secret',
    noun: 'client secret',
    use: ({ mode, tenantId }) =>
      mode === 'sdk'
        ? html`Set as <code>SERVICE_CLIENT_SECRET</code> in the application. Its middleware uses it to
            complete sign-ins and poll for updates, as client
            <code>${clientIdOf(tenantId)}</code>.`
        : html`For client <code>${clientIdOf(tenantId)}</code>. Gateways already have it and use it to
            complete sign-ins; the application needs it only if it signs people in itself.`,
    hint: 'If this is longer than the idle timeout, no one is signed out. If you revoke it now, everyone has to sign in again.',
    body: SecretRotationBody,
    untilMs: ({ clientSecretUntilMs }) => clientSecretUntilMs,
    show: 'showClientSecret',
    rotate: 'rotateClientSecret',
  },
]

const OVERLAPS: readonly Option[] = [
  { value: '0', label: 'Revoke now (it has leaked)' },
  { value: String(HOUR_MS / SECOND_MS), label: 'Keep valid for 1 hour' },
  { value: String(DAY_MS / SECOND_MS), label: 'Keep valid for 1 day' },
  { value: String((7 * DAY_MS) / SECOND_MS), label: 'Keep valid for 7 days' },
  { value: String(LIMITS.secretOverlapSecondsMax), label: 'Keep valid for 30 days' },
]

export function secretRoutes(world: ConsoleWorld): readonly ConsoleRoute[] {
  return KINDS.flatMap((kind) => routesOf(kind, world))
}

function routesOf(kind: Kind, { tenants, receipts, consoleAccess }: ConsoleWorld): ConsoleRoute[] {
  const { name, title, body } = kind
  const path = `${TENANT_PATH}/integration/${name}` as const

  async function show(visit: TenantVisit, attempt?: Attempt): Promise<View> {
    const overlaps = await tenants.secretOverlaps(visit.tenant.tenantId)
    return asked(kind, visit, kind.untilMs(overlaps), attempt)
  }

  /** What came of a rotation on its way to the gateways, on the very page that shows the secret. */
  async function receiptOf({ tenant, viewer, nowMs }: TenantVisit, said: string): Promise<Html> {
    const { proofs } = consoleAccess
    const { tenantId } = tenant
    const here = tenantPath(tenantId, 'integration')
    const note = await receipts.noteOf(done(here, said, { changed: tenantId }), nowMs, viewer)
    const given = encodeURIComponent(proofs.writeNote(viewer.userId, note))
    return receiptBlock({
      said,
      receipt: receipts.stateOf(note, viewer),
      followUrl: `/console/receipt?of=${given}`,
      againUrl: `${here}?done=${given}`,
    })
  }

  return [
    page({ path, role: 'tenant', needsFreshSignIn: true }, (visit) => show(visit)),
    action({ path: `${path}/show`, role: 'tenant', needsFreshSignIn: true }, async (visit) => {
      const shown = await tenants[kind.show](visit.tenant.tenantId, visit.actor)
      return secretView(kind, visit, shown)
    }),
    action(
      {
        path: `${path}/replace`,
        role: 'tenant',
        form: { overlap_seconds: 'whole' },
        body,
        isOnce: true, // a second sending would end the one that was just copied
        needsFreshSignIn: true,
      },
      async (visit, { overlap_seconds: seconds }) => {
        const rotated = await tenants[kind.rotate](visit.tenant.tenantId, seconds, visit.actor)
        const receipt = await receiptOf(visit, `${title} replaced. This is the new one.`)
        return secretView(kind, visit, rotated, receipt)
      },
      show,
    ),
  ]
}

const api = (tenantId: string, name: string) => `/api/v1/operator/tenants/${tenantId}/${name}`

function asked(kind: Kind, visit: TenantVisit, untilMs: number | null, attempt?: Attempt): View {
  const { name, title, noun, use, hint } = kind
  const { tenant } = visit
  const here = `${tenantPath(tenant.tenantId, 'integration')}/${name}`
  return {
    title: `${title} of ${tenant.name}`,
    here: 'integration',
    content: html`<div class="narrow">
      ${overlapNotice(kind, untilMs)}
      ${card(
        `Show ${noun}`,
        html`<p>${use(tenant)}</p>
          <p class="hint">Viewing it is recorded in the audit trail.</p>
          ${form(visit, { action: `${here}/show`, submit: `Show ${noun}` })}`,
      )}
      ${card(
        `Replace ${noun}`,
        html`<p>Creates a new one and shows it to you.</p>
          ${untilMs === null ? '' : html`<p><b>The previous one, which is still valid, is revoked now:</b> at most two are valid at a time.</p>`}
          ${form(visit, {
            action: `${here}/replace`,
            submit: `Replace ${noun}`,
            look: 'danger',
            cancel: `${tenantPath(tenant.tenantId, 'integration')}#keys`,
            attempt,
            content: selectField({
              name: 'overlap_seconds',
              label: `Current ${noun}`,
              hint,
              options: OVERLAPS,
              value: String(LIMITS.secretOverlapSecondsDefault),
              attempt,
            }),
          })}`,
      )}
    </div>`,
    calls: [
      { method: 'POST', path: `${api(tenant.tenantId, name)}/show`, label: `Show ${noun}` },
      {
        method: 'POST',
        path: `${api(tenant.tenantId, name)}/rotate`,
        body: { overlap_seconds: LIMITS.secretOverlapSecondsDefault },
        label: `Replace ${noun}`,
      },
    ],
  }
}

function secretView(
  kind: Kind,
  { tenant }: TenantVisit,
  { secret, previousUntilMs }: RotatedSecret,
  receipt?: Html,
): View {
  const { title, use } = kind
  return {
    title: `${title} of ${tenant.name}`,
    here: 'integration',
    content: html`${receipt ?? ''} ${overlapNotice(kind, previousUntilMs)}
      <div class="card narrow">
        ${copyable(secret, title)}
        <p>${use(tenant)}</p>
        <p class="hint">
          Store it in a secret store, not in the repository. This page isn’t saved: to see it again,
          come back and confirm it’s you.
        </p>
        <div class="submit">
          ${linkButton(`${tenantPath(tenant.tenantId, 'integration')}#keys`, 'Done')}
        </div>
      </div>`,
  }
}

function overlapNotice({ noun }: Kind, untilMs: number | null): Html | string {
  if (untilMs === null) return ''
  return notice('info', html`The previous ${noun} stays valid until ${moment(untilMs)}.`)
}

/** On the page Integration: what there is, and the way to it. No secret is opened for that. */
export function keysCard(tenant: Tenant, overlaps: SecretOverlaps): Html {
  const here = tenantPath(tenant.tenantId, 'integration')
  return html`<ul class="rows">
    ${KINDS.map((kind) => {
      const untilMs = kind.untilMs(overlaps)
      return html`<li>
        <div>
          <h3>${kind.title}</h3>
          <p class="hint">${kind.use(tenant)}</p>
          ${untilMs === null ? '' : html`<p>The previous one stays valid until ${moment(untilMs)}.</p>`}
        </div>
        <a class="button small" href="${here}/${kind.name}">Show or replace<span class="unseen"> the ${kind.noun}</span></a>
      </li>`
    })}
  </ul>`
}
