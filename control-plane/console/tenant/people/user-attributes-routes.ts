/** What an administrator says of one person, for access rules that ask. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { LIMITS } from '../../../../shared/limits.ts'
import { linesField, type Attempt } from '../../../pages/blocks/field.ts'
import { AttributesBody } from '../../../requests/attribute-fields.ts'
import { formCard } from '../../blocks/form.ts'
import { action, done, page, type ConsoleRoute, type View } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { attributeLines, attributesIn } from './attribute-lines.ts'
import { apiOf, USER, userPath } from './paths.ts'
import { userOf, type UserVisit } from './user-routes.ts'

const LINES_WISH = `at most ${LIMITS.attributesPerPersonMax} lines, each once, as NAME = VALUE with a name in lower-case letters, digits and underscores`
const Body = v.strictObject({
  // a form whose field is called `attributes` has no other ones to any script
  attribute_lines: v.pipe(
    v.string(),
    v.transform(attributesIn),
    v.check((all) => v.is(AttributesBody.entries.attributes, all), LINES_WISH),
  ),
})

export function userAttributesRoutes(world: ConsoleWorld): readonly ConsoleRoute[] {
  const { personAttributes } = world

  async function editView(visit: UserVisit, attempt?: Attempt): Promise<View> {
    const { tenantId, userId, name } = await userOf(world, visit)
    const path = userPath(tenantId, userId)
    const all = await personAttributes.list(tenantId, userId)
    const own = all.filter(({ source }) => source === 'local')
    return {
      title: `Attributes of ${name}`,
      here: 'users',
      intro: 'Access rules can ask for them. What your provider says stays beside them.',
      content: formCard(visit, {
        action: `${path}/attributes`,
        submit: 'Save',
        cancel: path,
        attempt,
        content: html`${linesField({
          name: 'attribute_lines',
          label: 'Attributes',
          hint: 'One per line, as NAME = VALUE, for example department = audit. Rules compare the value exactly.',
          rows: 6,
          isOptional: true,
          value: attributeLines(own),
          attempt,
        })}`,
      }),
      calls: [
        {
          method: 'PUT',
          path: `${apiOf(tenantId)}/users/${userId}/attributes`,
          body: { attributes: own.map((one) => ({ name: one.name, value: one.value })) },
        },
      ],
    }
  }

  return [
    page({ path: `${USER}/attributes`, role: 'tenant', needsFreshSignIn: true }, (visit) =>
      editView(visit),
    ),
    action(
      {
        path: `${USER}/attributes`,
        role: 'tenant',
        form: { attribute_lines: 'text' },
        body: Body,
        needsFreshSignIn: true,
      },
      async (visit, { attribute_lines: attributes }) => {
        const { tenantId, userId, name } = await userOf(world, visit)
        const told = await personAttributes.put({ tenantId, userId }, attributes, visit.actor)
        const { enforced } = told
        const where = userPath(tenantId, userId)
        return done(where, `Attributes of ${name} saved.`, { changed: tenantId, enforced })
      },
      editView,
    ),
  ]
}
