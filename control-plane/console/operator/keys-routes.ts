/** Keys of a tenant, and the console's own: which one signs, which are accepted until when, and the next step of a rotation. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { Refusal } from '../../../shared/errors.ts'
import { fingerprintOfCertificate } from '../../../shared/fleet/trust.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ROTATION_PHASES } from '../../keys/signing-keys.ts'
import type { Tenant } from '../../store/queries/tenants.ts'
import { CONSOLE_REALM, isReserved } from '../../store/reserved.ts'
import { asking } from '../asking.ts'
import { form } from '../blocks/form.ts'
import { linkButton } from '../../pages/blocks/form.ts'
import { freshSignInNotice } from '../access/fresh-sign-in.ts'
import { checkField, linesField, type Attempt } from '../../pages/blocks/field.ts'
import { notice } from '../../pages/blocks/notice.ts'
import { emptyState, table } from '../blocks/table.ts'
import { badge, card, moment, type Tone } from '../blocks/text.ts'
import { durationText } from '../durations.ts'
import type { Html } from '../../pages/html.ts'
import { OPERATOR_ENTRIES, TENANT_PATH, tenantPath } from '../navigation.ts'
import { action, done, page, type View, type ViewerVisit } from '../route.ts'
import type { ConsoleWorld } from '../world.ts'
import {
  certificatesCard,
  OrderBody,
  ownCertificatesCard,
  type KnownByKey,
} from './certificates-card.ts'
import { connectorAuthorityCard } from './connector-authority-routes.ts'
import { deviceKeyCard } from './device-key-routes.ts'
import { barOf, keysPicture, type KeyBar } from './keys-picture.ts'

/** Of the realm that this console signs in by. */
const OWN_PATH = OPERATOR_ENTRIES.keysOfConsole.path
const PATHS = [`${TENANT_PATH}/keys`, OWN_PATH] as const

const ORDER_PATHS = PATHS.map((path) => `${path}/order-certificate` as const)

const at = (tenantId: string) => (isReserved(tenantId) ? OWN_PATH : tenantPath(tenantId, 'keys'))
const apiOf = (tenantId: string) =>
  isReserved(tenantId)
    ? '/api/v1/operator/console/keys'
    : `/api/v1/operator/tenants/${tenantId}/keys`
type Visit = ViewerVisit
type Phase = (typeof ROTATION_PHASES)[number]

const PHASES: Readonly<Record<KeyBar['phase'], readonly [string, Tone]>> = {
  current: ['Active', 'good'],
  next: ['Next', 'plain'],
  retired: ['Retired', 'warm'],
}

const DONE: Readonly<Record<Phase, string>> = {
  prepare: 'Next key published. It does not sign yet.',
  promote: 'Key rotated. The previous key is still accepted.',
  retire: 'Unused keys deleted.',
}

export function keysRoutes(world: ConsoleWorld) {
  const { tenants, keys, certificates, gatewayDoors, fleetCertificate, connectorAuthority } = world

  async function holderOf({ path }: Visit): Promise<Tenant> {
    const { tenant_id: tenantId } = path
    const found =
      tenantId === undefined ? await tenants.find(CONSOLE_REALM) : await tenants.get(tenantId)
    if (found === undefined) throw new Refusal('not_found')
    return found
  }

  /** Where one is; the console is no tenant, and has no navigation of one. */
  const placeOf = (tenant: Tenant): Pick<View, 'here' | 'tenant'> =>
    isReserved(tenant.tenantId) ? { here: 'keysOfConsole' } : { here: 'keys', tenant }

  async function show(visit: Visit, attempt?: Attempt): Promise<View> {
    const tenant = await holderOf(visit)
    const { tenantId, mode } = tenant
    const times = await keys.timeline(tenantId)
    const isReadOnly = visit.proofs?.isReadOnly === true
    const bars = times.map((one) => barOf(one, tenant))
    const orderPath = `${at(tenantId)}/order-certificate`
    const states = mode === 'sdk' || isReserved(tenantId) ? [] : await certificates.states(tenantId)
    return {
      ...placeOf(tenant),
      title: isReserved(tenantId) ? 'Console keys' : 'Keys',
      intro: introOf(tenant),
      content:
        bars.length === 0
          ? emptyState(
              'No keys yet',
              'Publish the tenant to create the first key.',
              linkButton(tenantPath(tenantId), 'Open setup checklist'),
            )
          : html`${isReserved(tenantId) ? freshSignInNotice(visit) : ''} ${keysPicture(bars, visit.nowMs)} ${keysTable(bars)}
            ${card('Rotation', nextStep(visit, tenant, bars, attempt))}
            ${mode === 'sdk' || isReserved(tenantId) ? '' : certificatesCard(visit, orderPath, states)}
            ${isReserved(tenantId) ? ownCertificatesCard(visit, orderPath, await certificates.own(), await knownByKeys()) : ''}
            ${isReserved(tenantId) ? deviceKeyCard(isReadOnly) : ''}
            ${isReserved(tenantId) ? await connectorAuthorityCard(connectorAuthority, { isReadOnly, nowMs: visit.nowMs }) : ''}`,
      calls: ROTATION_PHASES.map((phase) => ({
        method: 'POST' as const,
        path: `${apiOf(tenantId)}/rotate`,
        body: { phase },
        label: phase,
      })),
    }
  }

  /** Where gateways and connectors dial. */
  async function knownByKeys(): Promise<KnownByKey[]> {
    const doors = await gatewayDoors.all()
    return [
      {
        address: 'Fleet listener',
        what: 'Gateways',
        fingerprint: fleetCertificate.fingerprint,
      },
      ...doors.map(({ address, certificate }) => ({
        address,
        what: 'Connectors and other gateways',
        fingerprint: fingerprintOfCertificate({ certificate }),
      })),
    ]
  }

  const orders = ORDER_PATHS.map((path) =>
    action(
      { path, role: 'operator', form: { hostname: 'text' }, body: OrderBody, isOnce: true },
      async (visit, { hostname }) => {
        const { tenantId } = await holderOf(visit)
        await certificates.order(tenantId, hostname, visit.actor)
        return done(at(tenantId), 'Certificate requested. This can take a minute.')
      },
      show,
    ),
  )

  const rotations = PATHS.flatMap((path) => {
    const step = (phase: Phase) => ({
      path: `${path}/${phase}` as const,
      role: 'operator' as const,
      form: { private_key_pem: 'secret', force: 'flag' } as const,
      body: StepBody,
      isOnce: true,
      needsFreshSignIn: phase !== 'prepare' || path === OWN_PATH,
    })
    const take =
      (phase: Phase) =>
      async (visit: Visit, { private_key_pem: pem, force }: v.InferOutput<typeof StepBody>) => {
        const { tenantId } = await holderOf(visit)
        const privateKeyPem = pem.trim() === '' ? undefined : pem
        await keys.rotate(tenantId, { phase, privateKeyPem, force }, visit.actor)
        const changed = isReserved(tenantId) ? undefined : tenantId
        return done(at(tenantId), DONE[phase], { changed })
      }
    return [
      page({ path, role: 'operator' }, (visit) => show(visit)),
      action(step('prepare'), take('prepare'), show),
      ...asking(
        { ...step('promote'), isAskedAgain: true },
        async (visit) => {
          const tenant = await holderOf(visit)
          return { ...placeOf(tenant), ...promotion(tenant) }
        },
        take('promote'),
      ),
      ...asking(
        { ...step('retire'), isAskedAgain: true },
        async (visit, attempt) => {
          const tenant = await holderOf(visit)
          const times = await keys.timeline(tenant.tenantId)
          const bars = times.map((one) => barOf(one, tenant))
          return { ...placeOf(tenant), ...retirement(tenant, bars, visit.nowMs, attempt) }
        },
        take('retire'),
      ),
    ]
  })
  return [...rotations, ...orders]
}

function introOf({ tenantId, name, maxSessionSeconds }: Tenant): string {
  const length = durationText(maxSessionSeconds)
  return isReserved(tenantId)
    ? `These keys sign the sessions of this console. A session lasts up to ${length} and continues through a rotation.`
    : `These keys sign the sessions of ${name}. A session lasts up to ${length}, so its key stays valid that long.`
}

/** Which step it is says the address. */
const StepBody = v.strictObject({
  private_key_pem: v.pipe(
    v.string(),
    v.maxLength(LIMITS.privateKeyBytesMax, `at most ${LIMITS.privateKeyBytesMax} characters`),
  ),
  force: v.boolean(),
})

function keysTable(bars: readonly KeyBar[]): Html {
  return table({
    caption: 'Signing keys',
    rows: bars,
    columns: [
      {
        label: 'Key',
        isName: true,
        cell: ({ kid }) => html`<code class="kid" title="${kid}">${kid.slice(0, 12)}…</code>`,
      },
      { label: 'State', cell: ({ phase }) => badge(...PHASES[phase]) },
      { label: 'Published', cell: ({ publishedFromMs }) => moment(publishedFromMs) },
      { label: 'Signing', cell: signsText },
      {
        label: 'Needed',
        cell: ({ neededUntilMs }) =>
          neededUntilMs === null ? 'until retired' : html`until ${moment(neededUntilMs)}`,
      },
    ],
    empty: html``,
  })
}

function signsText({ phase, signsFromMs, signsUntilMs }: KeyBar): Html {
  if (signsFromMs === null) return html`not yet`
  const until = signsUntilMs === null ? 'the next key takes over' : moment(signsUntilMs)
  return phase === 'current'
    ? html`<div>since ${moment(signsFromMs)}</div>`
    : html`<div>from ${moment(signsFromMs)}<br />until ${until}</div>`
}

/** Prepare, promote, retire: what can be done at this point, and what it is for. */
function nextStep(
  visit: Visit,
  { tenantId }: Tenant,
  bars: readonly KeyBar[],
  attempt: Attempt | undefined,
): Html {
  const hasNext = bars.some(({ phase }) => phase === 'next')
  const hasRetired = bars.some(({ phase }) => phase === 'retired')
  const problem = attempt?.problem
  return html`${problem === undefined ? '' : notice('problem', problem)}
    ${
      hasNext
        ? html`<p>${isReserved(tenantId) ? NEXT_OF_CONSOLE : NEXT_OF_TENANT}</p>
            ${linkButton(`${at(tenantId)}/promote`, 'Start signing with it …')}`
        : html`<p>
              Publish the next key first, then start signing with it. Nobody is signed out.
            </p>
            ${form(visit, {
              action: `${at(tenantId)}/prepare`,
              submit: 'Publish next key',
              attempt: attempt && { ...attempt, problem: undefined },
              content: html`<details ${attempt?.problems.has('private_key_pem') === true ? html`open` : ''}>
                <summary>Use your own key</summary>
                ${linesField({ name: 'private_key_pem', label: 'Private key (PEM)', hint: 'RSA, 2048 bits or more, not encrypted. It is stored encrypted and never shown again.', isOptional: true, rows: 5, attempt })}
              </details>`,
            })}`
    }
    ${hasRetired ? html`<p class="further">Retired keys stay accepted until they are deleted.</p>${linkButton(`${at(tenantId)}/retire`, 'Delete retired keys …', 'quiet')}` : ''}`
}

const NEXT_OF_TENANT =
  'The next key is published but does not sign yet. Gateways have it, and applications fetch it automatically. If an application reads public keys from a file, update that file first.'
const NEXT_OF_CONSOLE = 'The next key is published but does not sign yet.'

function promotion({ tenantId, name, maxSessionSeconds }: Tenant) {
  if (isReserved(tenantId))
    return {
      title: 'Start signing with the next key?',
      effects: [
        'New sign-ins to the console are signed with the new key.',
        'Existing sessions continue, yours included.',
      ],
      submit: 'Start signing',
      cancel: at(tenantId),
      isHarmless: true,
    }
  return {
    title: `Start signing with the next key of ${name}?`,
    effects: [
      'New sessions are signed with the new key.',
      `Existing sessions continue: the previous key is accepted for another ${durationText(maxSessionSeconds)}, the longest a session can last.`,
      'An application that has not fetched the new key refuses the new sessions until it does.',
    ],
    submit: 'Start signing',
    cancel: at(tenantId),
    isHarmless: true,
  }
}

function retirement(
  { tenantId, name }: Tenant,
  bars: readonly KeyBar[],
  nowMs: number,
  attempt: Attempt | undefined,
) {
  const retired = bars.filter(({ phase }) => phase === 'retired')
  const free = retired.filter(({ neededUntilMs: end }) => end !== null && end <= nowMs)
  const kept = retired.filter((bar) => !free.includes(bar))
  return {
    title: `Delete retired keys of ${isReserved(tenantId) ? 'the console' : name}?`,
    effects: [
      free.length === 0
        ? 'All retired keys are still in use: nothing is deleted unless you force it.'
        : html`Deleted (no longer in use): ${free.map(({ kid }) => html`<code>${kid}</code> `)}`,
      ...kept.map(
        ({ kid, neededUntilMs: end }) =>
          html`<code>${kid}</code> is kept: sessions may use it until ${moment(end)}. If you force it,
            <b>${isReserved(tenantId) ? 'sign-ins in progress have to start over.' : 'everyone whose session it signed is signed out immediately.'}</b>`,
      ),
    ],
    submit: 'Delete keys',
    cancel: at(tenantId),
    content:
      kept.length === 0
        ? html``
        : checkField({
            name: 'force',
            label: 'Force: also delete keys that are still in use',
            attempt,
          }),
  }
}
