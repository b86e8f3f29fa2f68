/** Networks that rules name, and whom to ask for access: forms on the page of the rules. */
import * as v from 'valibot'
import { Refusal } from '../../../../shared/errors.ts'
import { AccessRulesSchema } from '../../../../shared/fleet/access-rules.ts'
import type { Attempt } from '../../../pages/blocks/field.ts'
import type { RuleEdit } from '../../../tenants/rule-edits.ts'
import { action, type ConsoleRoute, type TenantVisit, type View } from '../../route.ts'
import { RULES, versionOf } from './paths.ts'
import { previewView, saveEdit, type RulesWorld } from './saving.ts'

export function networkRoutes(
  world: RulesWorld,
  again: (visit: TenantVisit, attempt?: Attempt) => Promise<View>,
): readonly ConsoleRoute[] {
  return [
    action(
      {
        path: `${RULES}/networks`,
        role: 'tenant',
        form: { name: 'text', entries: 'lines' },
        body: v.strictObject({ name: v.string(), entries: v.array(v.string()) }),
      },
      async (visit, { name, entries }) => {
        const content = await world.accessRules.of(visit.tenant.tenantId)
        const edit: RuleEdit =
          entries.length === 0 ? { kind: 'network', name } : { kind: 'network', name, entries }
        if (entries.length > 0) requireNetwork(name, entries)
        return previewView(world, visit, edit, { version: versionOf(content) })
      },
      again,
    ),
    action(
      {
        path: `${RULES}/contact`,
        role: 'tenant',
        form: { contact: 'optional', version: 'text' },
        body: v.strictObject({
          contact: AccessRulesSchema.entries.contact,
          version: v.string(),
        }),
        needsFreshSignIn: true,
      },
      (visit, { contact, version }) =>
        saveEdit(
          world,
          visit,
          contact === undefined ? { kind: 'contact' } : { kind: 'contact', contact },
          version,
        ),
      again,
    ),
  ]
}

/** By the schema of the API, beside its field. */
function requireNetwork(name: string, entries: readonly string[]): void {
  const result = v.safeParse(AccessRulesSchema.entries.networks, { [name]: [...entries] })
  if (result.success && result.output !== undefined && Object.hasOwn(result.output, name)) return
  const [issue] = result.issues ?? []
  const isEntry = (issue?.path?.length ?? 0) > 1
  const wish = issue?.message ?? 'the name of a network'
  throw new Refusal('field_invalid', { field: isEntry ? 'entries' : 'name' }, `Must be ${wish}.`)
}
