/** All rules as JSON: for what no form has room for. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { Refusal } from '../../../../shared/errors.ts'
import { AccessRulesSchema, type AccessRules } from '../../../../shared/fleet/access-rules.ts'
import { parseStrictJson } from '../../../http/strict-json.ts'
import { linesField, type Attempt } from '../../../pages/blocks/field.ts'
import { form } from '../../blocks/form.ts'
import { tenantPath } from '../../navigation.ts'
import { action, page, type ConsoleRoute, type TenantVisit, type View } from '../../route.ts'
import { apiOf, RULES, versionOf } from './paths.ts'
import { previewView, type RulesWorld } from './saving.ts'

const base = ({ tenant }: TenantVisit) => tenantPath(tenant.tenantId, 'rules')

export function jsonRoutes(world: RulesWorld): readonly ConsoleRoute[] {
  const path = `${RULES}/json` as const

  async function show(visit: TenantVisit, attempt?: Attempt): Promise<View> {
    const content = await world.accessRules.of(visit.tenant.tenantId)
    return {
      title: 'Access rules as JSON',
      here: 'rules',
      intro: 'All rules and networks, as the API reads and writes them.',
      content: html`<div class="card">${form(visit, {
        action: `${base(visit)}/json`,
        submit: 'Preview impact',
        cancel: base(visit),
        hidden: { version: attempt?.values.get('version') ?? versionOf(content) },
        attempt,
        content: linesField({
          name: 'rules',
          label: 'Rules',
          rows: 24,
          value: JSON.stringify(content, null, 2),
          attempt,
        }),
      })}</div>`,
      calls: [{ method: 'PUT', path: apiOf(visit.tenant.tenantId), body: content }],
    }
  }

  return [
    page({ path, role: 'tenant', needsFreshSignIn: true, isForForm: false }, (visit) =>
      show(visit),
    ),
    action(
      {
        path,
        role: 'tenant',
        form: { rules: 'text', version: 'text' },
        body: v.strictObject({ rules: v.string(), version: v.string() }),
      },
      (visit, { rules, version }) =>
        previewView(world, visit, { kind: 'all', content: rulesIn(rules) }, { version }),
      show,
    ),
  ]
}

function rulesIn(text: string): AccessRules {
  const result = v.safeParse(AccessRulesSchema, jsonIn(text))
  if (result.success) return result.output
  const [issue] = result.issues
  const where = v.getDotPath(issue) ?? 'It'
  throw new Refusal('field_invalid', { field: 'rules' }, `${where} must be ${issue.message}.`)
}

function jsonIn(text: string): unknown {
  try {
    return parseStrictJson(Buffer.from(text))
  } catch {
    const detail = 'This isn’t valid JSON. Check quotes, commas and repeated names.'
    throw new Refusal('field_invalid', { field: 'rules' }, detail)
  }
}
