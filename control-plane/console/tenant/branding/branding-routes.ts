/**
 * Branding: name, logo and color of the sign-in pages. What was typed is first shown as people would
 * see it; saving is a button on that page.
 */
import { html } from 'hono/html'
import * as v from 'valibot'
import { LIMITS } from '../../../../shared/limits.ts'
import { checkField, fileField, textField, type Attempt } from '../../../pages/blocks/field.ts'
import { TenantPatchBody } from '../../../requests/tenant-fields.ts'
import { LOGO_PIXELS_MAX, logoMediaType } from '../../../tenants/logo.ts'
import type { TenantPatch } from '../../../tenants/tenants.ts'
import { form } from '../../blocks/form.ts'
import { card } from '../../blocks/text.ts'
import { TENANT_PATH, tenantPath } from '../../navigation.ts'
import { action, done, page, type ConsoleRoute, type TenantVisit, type View } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { framed, previews, SCHEMES, type Look } from './preview.ts'

const PATH = `${TENANT_PATH}/branding` as const
const FORM = {
  name: 'text',
  brand_colour: 'nullable',
  brand_logo: 'picture',
  remove_logo: 'flag',
} as const
const { name, brand_colour, brand_logo } = TenantPatchBody.entries
const Body = v.strictObject({
  name: v.nonOptional(name),
  brand_colour: v.nonOptional(brand_colour),
  brand_logo: v.optional(v.nonNullable(v.unwrap(brand_logo))),
  remove_logo: v.boolean(),
})
type Proposed = v.InferOutput<typeof Body>

export function brandingRoutes({
  tenants,
  baseUrl,
  consoleAccess: { keptForms },
}: ConsoleWorld): readonly ConsoleRoute[] {
  const draftOf = ({ viewer, tenant }: TenantVisit) =>
    [viewer.userId, `branding ${tenant.tenantId}`] as const

  function show(visit: TenantVisit, attempt?: Attempt): View {
    const { tenantId } = visit.tenant
    return {
      title: 'Branding',
      here: 'branding',
      intro: 'How your sign-in pages and emails look.',
      content: html`<div class="card narrow">${proposal(visit, undefined, attempt)}</div>
        ${card('Current sign-in page', previews(tenantId, false), 'preview')}`,
      calls: callsOf(tenantId),
    }
  }

  function proposal(visit: TenantVisit, proposed: Proposed | undefined, attempt?: Attempt) {
    const { tenantId, name: nameNow, brandColour, brandLogoTag } = visit.tenant
    return form(visit, {
      action: `${tenantPath(tenantId, 'branding')}/preview`,
      submit: 'Preview',
      isUpload: true,
      attempt,
      content: html`
        ${textField({ name: 'name', label: 'Name', hint: 'Shown on the sign-in pages and in emails.', value: proposed?.name ?? nameNow, attempt })}
        ${textField({ name: 'brand_colour', label: 'Color', hint: 'Like #1f45ae, for buttons and links. Text on it stays readable: we choose black or white, and darken links where needed. Leave empty for the default.', value: (proposed ?? { brand_colour: brandColour }).brand_colour ?? '', isOptional: true, charactersMax: 7, attempt })}
        ${fileField({ name: 'brand_logo', label: 'Logo', hint: `PNG, JPEG or WebP, up to ${LIMITS.brandLogoBytesMax / 1024} KB and ${LOGO_PIXELS_MAX} × ${LOGO_PIXELS_MAX} pixels. ${brandLogoTag === null ? 'Without one, the first letter of the name is shown.' : 'Leave empty to keep the current logo.'}`, accept: 'image/png,image/jpeg,image/webp', isOptional: true, attempt })}
        ${brandLogoTag === null ? '' : checkField({ name: 'remove_logo', label: 'Remove the current logo', isOn: proposed?.remove_logo ?? false, attempt })}
      `,
    })
  }

  async function previewView(visit: TenantVisit, proposed: Proposed): Promise<View> {
    const { tenantId } = visit.tenant
    await keptForms.keepDraft(...draftOf(visit), proposed)
    const { name: nameThen, brand_colour: colour, brand_logo: logo, remove_logo: isGone } = proposed
    const base = tenantPath(tenantId, 'branding')
    return {
      title: 'Preview branding',
      here: 'branding',
      intro: 'Nothing is saved yet.',
      content: html`${card('New sign-in page', previews(tenantId, true), 'preview')}
        ${card(
          'Save',
          html`<p class="hint">Visitors see it on their next page.</p>
            ${form(visit, {
              action: base,
              submit: 'Save branding',
              cancel: base,
              hidden: {
                name: nameThen,
                brand_colour: colour ?? '',
                ...(logo !== undefined && { brand_logo: logo }),
                ...(isGone && { remove_logo: 'on' }),
              },
            })}`,
        )}
        ${card('Keep editing', proposal(visit, proposed))}`,
      calls: callsOf(tenantId),
    }
  }

  async function lookOf(visit: TenantVisit, of: 'draft' | undefined): Promise<Look> {
    const { tenant } = visit
    const draft =
      of === 'draft'
        ? ((await keptForms.draft(...draftOf(visit))) as Proposed | undefined)
        : undefined
    const kept = draft?.remove_logo === true ? undefined : (await tenants.logo(tenant))?.bytes
    const sent = draft?.brand_logo
    const bytes = sent === undefined ? kept : Buffer.from(sent, 'base64')
    return {
      name: draft?.name ?? tenant.name,
      colour: draft === undefined ? tenant.brandColour : draft.brand_colour,
      logoUrl:
        bytes && `data:${logoMediaType(bytes) ?? 'image/png'};base64,${bytes.toString('base64')}`,
    }
  }

  return [
    page({ path: PATH, role: 'tenant' }, (visit) => show(visit)),
    page(
      {
        path: `${PATH}/frame`,
        role: 'tenant',
        query: {
          scheme: v.optional(v.picklist(SCHEMES, 'light or dark'), 'light'),
          of: v.optional(v.picklist(['draft'], 'draft')),
        },
      },
      async (visit) =>
        framed(visit.tenant, await lookOf(visit, visit.query.of), visit.query.scheme, baseUrl),
    ),
    action(
      { path: `${PATH}/preview`, role: 'tenant', form: FORM, body: Body },
      (visit, proposed) => previewView(visit, proposed),
      show,
    ),
    action(
      { path: PATH, role: 'tenant', form: FORM, body: Body },
      async (visit, proposed) => {
        const { tenantId } = visit.tenant
        await tenants.patch(tenantId, patchOf(proposed), visit.actor)
        return done(tenantPath(tenantId, 'branding'), 'Branding saved.', { changed: tenantId })
      },
      show,
    ),
  ]
}

function patchOf({
  name: then,
  brand_colour: colour,
  brand_logo: logo,
  remove_logo: isGone,
}: Proposed): TenantPatch {
  return {
    name: then,
    brandColour: colour,
    ...(logo !== undefined ? { brandLogo: logo } : isGone ? { brandLogo: null } : {}),
  }
}

const callsOf = (tenantId: string) => [
  {
    method: 'PATCH' as const,
    path: `/api/v1/operator/tenants/${tenantId}`,
    body: { name: 'Acme', brand_colour: '#1f45ae', brand_logo: '<BASE64>' },
  },
]
