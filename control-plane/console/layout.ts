/** The frame of every page of the console: where one is, where one can go, what has just happened. */
import { html } from 'hono/html'
import { realmPath } from '../../shared/issuer.ts'
import type { Html } from '../pages/html.ts'
import { KEY } from '../pages/icons.ts'
import { CONSOLE_REALM } from '../store/reserved.ts'
import type { AssetUrls } from './assets.ts'
import { apiCalls } from './blocks/api-calls.ts'
import { receiptBlock, type Happened } from './blocks/receipt.ts'
import { form } from './blocks/form.ts'
import { operatorLinks, tenantLinks, type NavigationLink } from './navigation.ts'
import type { View, Visit } from './route.ts'
import type { Viewer } from '../console-access/console-sessions.ts'

interface Frame {
  readonly baseUrl: string
  readonly assets: AssetUrls
  /** Which pages there are. */
  readonly paths: ReadonlySet<string>
  readonly viewer: Viewer | undefined
  readonly proofs: Visit['proofs']
  /** What the form before has come to. */
  readonly done?: Happened | undefined
}

export function layout(view: View, frame: Frame): Html {
  const { title, heading = title, intro, content, buttons = [], calls = [], tenant } = view
  const { viewer, assets, done, baseUrl } = frame
  const name = tenant === undefined ? 'Console' : `${tenant.name} · Console`
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · ${name}</title>
        <link rel="stylesheet" href="${assets.style}" />
        ${
          view.hasCharts === true && assets.charts !== undefined
            ? html`<link rel="stylesheet" href="${assets.charts.style}" />
                <script type="module" src="${assets.charts.script}"></script>`
            : ''
        }
        ${assets.script === undefined ? '' : html`<script type="module" src="${assets.script}"></script>`}
      </head>
      <body class="${viewer === undefined ? 'outside' : 'inside'}">
        <a class="skip" href="#content">Skip to content</a>
        ${viewer === undefined ? outsideHead() : insideHead(viewer, frame, tenant)}
        ${viewer === undefined ? '' : navigation(view, frame, viewer)}
        <main id="content" tabindex="-1">
          <header class="page-head">
            <div>
              <h1>${heading}</h1>
              ${intro === undefined ? '' : html`<p class="intro">${intro}</p>`}
            </div>
            ${buttons.length === 0 ? '' : html`<div class="buttons">${buttons}</div>`}
          </header>
          ${done === undefined ? '' : receiptBlock(done)} ${content}
          ${calls.length > 0 && viewer?.isOperator === true ? apiCalls(calls, baseUrl) : ''}
        </main>
        ${viewer === undefined ? '' : switcher(tenant?.tenantId)}
      </body>
    </html>`
}

function outsideHead(): Html {
  return html`<header class="top">
    <span class="brand"><span class="mark" aria-hidden="true">${KEY}</span>Console</span>
  </header>`
}

function insideHead(viewer: Viewer, { proofs }: Frame, tenant: View['tenant']): Html {
  const search = tenant === undefined ? '' : `?in=${encodeURIComponent(tenant.tenantId)}`
  return html`<header class="top">
    <a class="brand" href="/console"><span class="mark" aria-hidden="true">${KEY}</span>Console</a>
    ${tenant === undefined ? '' : html`<span class="whose"><span aria-hidden="true">/</span>${tenant.name}</span>`}
    <a class="search" href="/console/search${search}" data-switcher>Search<kbd aria-hidden="true">/</kbd></a>
    <details class="account">
      <summary><span class="unseen">Account of </span>${viewer.name}</summary>
      <div class="menu">
        <p>${viewer.email}</p>
        <p class="hint">${roleText(viewer)}</p>
        <p><a href="${realmPath(CONSOLE_REALM)}/account">Password and second factors</a></p>
        ${form({ proofs }, { action: '/console/sign-out', submit: 'Sign out', look: 'quiet' })}
      </div>
    </details>
  </header>`
}

function roleText({ isOperator, changes }: Viewer): string {
  if (changes.length === 0) return 'Viewer: read-only'
  return isOperator && changes === 'everything' ? 'Operator' : 'Administrator'
}

function navigation({ here, tenant }: View, { paths }: Frame, viewer: Viewer): Html {
  const ofTenant = tenant === undefined ? [] : tenantLinks(tenant, here, paths, viewer.isOperator)
  const ofOperator = viewer.isOperator ? operatorLinks(here, paths) : []
  return html`<div class="side">
    ${ofTenant.length === 0 ? '' : links(tenant?.name ?? '', ofTenant)}
    ${ofOperator.length === 0 ? '' : links('Service', ofOperator)}
  </div>`
}

function links(heading: string, items: readonly NavigationLink[]): Html {
  return html`<nav aria-label="Pages of ${heading}">
    <p class="nav-head" aria-hidden="true">${heading}</p>
    <ul>
      ${items.map(
        ({ label, href, isHere }) =>
          html`<li><a href="${href}" ${isHere ? html`aria-current="page"` : ''}>${label}</a></li>`,
      )}
    </ul>
  </nav>`
}

/** Opened by the script; without it the link above leads to a page that does the same. */
function switcher(tenantId: string | undefined): Html {
  return html`<dialog id="switcher" aria-label="Go to" data-in="${tenantId ?? ''}">
    <form method="get" action="/console/search">
      <input
        type="search"
        name="q"
        autocomplete="off"
        spellcheck="false"
        maxlength="100"
        placeholder="Search tenants, pages and people"
        aria-label="Search tenants, pages and people"
        aria-controls="found"
      />
    </form>
    <ul id="found" class="found"></ul>
    <p class="hint" role="status"></p>
  </dialog>`
}
