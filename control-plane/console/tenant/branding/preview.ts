/** The real sign-in page in a frame, with what was proposed: on a phone and a desk, light and dark. */
import { createHash } from 'node:crypto'
import { html } from 'hono/html'
import { issuerOf } from '../../../../shared/issuer.ts'
import type { Html } from '../../../pages/html.ts'
import type { Place } from '../../../realm/pages/layout.ts'
import { signInPage } from '../../../realm/pages/sign-in-page.ts'
import { english } from '../../../realm/pages/texts/english.ts'
import type { Tenant } from '../../../store/queries/tenants.ts'
import { tenantPath } from '../../navigation.ts'

export const SCHEMES = ['light', 'dark'] as const
type Scheme = (typeof SCHEMES)[number]

export interface Look {
  readonly name: string
  readonly colour: string | null
  /** `data:`, since a frame that may do nothing sends no cookies along for a picture. */
  readonly logoUrl: string | undefined
}

const SCREENS = [
  ['phone', 'Phone'],
  ['desk', 'Desktop'],
] as const

/** `ofDraft`: of what was typed rather than of what is saved. */
export function previews(tenantId: string, ofDraft: boolean): Html {
  const frame = `${tenantPath(tenantId, 'branding')}/frame`
  return html`<div class="previews">
    ${SCREENS.flatMap(([screen, label]) =>
      SCHEMES.map(
        (scheme) =>
          html`<figure>
            <figcaption>${label}, ${scheme}</figcaption>
            <div class="frame ${screen}">
              <iframe
                src="${`${frame}?scheme=${scheme}${ofDraft ? '&of=draft' : ''}`}"
                title="Sign-in page: ${label}, ${scheme}"
                sandbox
                tabindex="-1"
                scrolling="no"
              ></iframe>
            </div>
          </figure>`,
      ),
    )}
  </div>`
}

/** What the browser prefers is said here by the page itself, so that both can be looked at. */
const inScheme = (page: string, scheme: Scheme): string =>
  page
    .replaceAll(/\(prefers-color-scheme: ?dark\)/g, scheme === 'dark' ? 'all' : 'not all')
    .replace('content="light dark"', `content="${scheme}"`)

export async function framed(
  { tenantId, hostnames }: Pick<Tenant, 'tenantId' | 'hostnames'>,
  { name, colour, logoUrl }: Look,
  scheme: Scheme,
  baseUrl: string,
): Promise<Response> {
  const { host, origin } = new URL(baseUrl)
  const brand = { colour: colour ?? undefined, logoUrl }
  const place: Place & { readonly name: string } = { texts: english, name, brand, host }
  const page = signInPage({
    place,
    applicationHost: hostnames[0] ?? host,
    action: issuerOf(baseUrl, tenantId),
    username: '',
    forgottenUrl: issuerOf(baseUrl, tenantId),
  })
  const text = inScheme(String(await page.html), scheme)
  const styles = [...text.matchAll(/<style>([^<]*)<\/style>/g)].map(
    ([, style = '']) => `'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  )
  const policy = `default-src 'none'; style-src ${styles.join(' ')}; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors ${origin}; sandbox`
  return new Response(text, {
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policy,
      'X-Frame-Options': 'SAMEORIGIN',
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
    },
  })
}
