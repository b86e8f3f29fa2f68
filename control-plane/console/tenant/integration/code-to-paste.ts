/** Code to paste, by framework and mode, with the values of this tenant around it. */
import { html } from 'hono/html'
import type { integrationContract } from '../../../../shared/integration/contract.ts'
import { snippetsFor } from '../../../../shared/integration/snippets.ts'
import type { Tenant } from '../../../store/queries/tenants.ts'
import { tabs } from '../../blocks/tabs.ts'
import { copyable, facts } from '../../blocks/text.ts'
import type { Html } from '../../../pages/html.ts'
import { tenantPath } from '../../navigation.ts'

type Contract = ReturnType<typeof integrationContract>
type Place = 'edge' | 'sdk'

interface Chosen {
  readonly framework: string
  readonly place: Place
}

const PLACES: readonly (readonly [Place, string])[] = [
  ['edge', 'Gateway'],
  ['sdk', 'SDK (no gateway)'],
]
const FIRST = 'express'

/** What was asked for, as far as there is such; else what fits the tenant and its guide. */
export function chosenOf(
  { frameworks }: Contract,
  asked: { readonly framework: string; readonly place: string },
  tenant: Pick<Tenant, 'mode'>,
  guideFramework: string | undefined,
): Chosen {
  const known = (name: string | undefined) =>
    name !== undefined && Object.hasOwn(frameworks, name) ? name : undefined
  const own = tenant.mode === 'sdk' ? 'sdk' : 'edge'
  return {
    framework: known(asked.framework) ?? known(guideFramework) ?? FIRST,
    place: PLACES.find(([place]) => place === asked.place)?.[0] ?? own,
  }
}

export function codeToPaste(
  contract: Contract,
  { framework, place }: Chosen,
  { tenantId }: Pick<Tenant, 'tenantId'>,
  baseUrl: string,
): Html {
  const at = (wish: Partial<Chosen>) => {
    const query = new URLSearchParams({ framework, place, ...wish })
    return `${tenantPath(tenantId, 'integration')}?${query.toString()}#code`
  }
  const snippet = snippetsFor({ baseUrl, tenantId })[framework]?.[place]
  const name = contract.frameworks[framework]?.name ?? framework
  return html`${tabs(
    'Enforcement',
    PLACES.map(([one, label]) => ({ label, href: at({ place: one }), isHere: one === place })),
  )}
    ${tabs(
      'Framework',
      Object.entries(contract.frameworks).map(([one, { name: label }]) => ({
        label,
        href: at({ framework: one }),
        isHere: one === framework,
      })),
    )}
    ${
      snippet === undefined
        ? html`<p>
            There is no SDK for ${name} yet. Use the
            <a href="${at({ place: 'edge' })}">gateway</a> instead: it takes only a few lines of code.
          </p>`
        : html`<h3>1. Install</h3>
            ${copyable(snippet.install, `Install for ${name}`)}
            <h3>2. <code>${snippet.file}</code></h3>
            <div class="tall">${copyable(snippet.code, `${snippet.file} for ${name}`)}</div>
            <p class="hint">
              For another environment, set <code>SERVICE_BASE_URL</code> and
              <code>SERVICE_TENANT_ID</code>: they override what the code names.
            </p>
            ${place === 'sdk' ? secretStep() : ''}`
    }
    <details>
      <summary>Headers, cookies and files used</summary>
      ${contractNames(contract)}
    </details>`
}

function secretStep(): Html {
  return html`<h3>3. Set the client secret</h3>
    ${copyable('export SERVICE_CLIENT_SECRET=…', 'Environment variable')}
    <p class="hint">
      The client secret is under Keys. Keep it in a secret store, never in the repository.
    </p>`
}

function contractNames({ transport, public_key: key, contract_version: version }: Contract): Html {
  const names: readonly (readonly [string, string])[] = [
    ['Contract version', version],
    ['Signed identity header', transport.claims_header],
    ['User ID header', transport.user_header],
    ['Verified header', transport.verified_header],
    ['Session cookie', transport.session_cookie],
    ['Signing algorithm', transport.algorithm],
    ['Public key file', key.filename],
  ]
  return facts(names.map(([label, value]) => [label, html`<code>${value}</code>`] as const))
}
