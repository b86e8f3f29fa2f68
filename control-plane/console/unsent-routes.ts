/** A form that could not be taken comes back with what was typed, once its person is there again. */
import * as v from 'valibot'
import { Refusal } from '../../shared/errors.ts'
import { entering } from './access/entering.ts'
import { isLookedAtOnly } from './access/read-only.ts'
import { isFreshSignIn } from './access/fresh-sign-in.ts'
import type { KeptForm } from '../console-access/kept-forms.ts'
import { signInAddress } from './access/return-address.ts'
import { isSecret } from './form-values.ts'
import { page, type ConsoleRoute, type Declaration } from './route.ts'
import type { ConsoleWorld } from './world.ts'
import type { Attempt } from '../pages/blocks/field.ts'

const PATH = '/console/unsent'

export const unsentAddress = (id: string) => `${PATH}?form=${id}`

const WHY: Readonly<Record<KeptForm['why'], string>> = {
  session_over: 'You were signed out when you sent this form, so nothing was changed.',
  fresh_sign_in: 'Thanks for confirming it’s you. Nothing has been changed yet.',
}

export function unsentRoutes(
  { consoleAccess, tenants }: ConsoleWorld,
  routes: () => readonly ConsoleRoute[],
): readonly ConsoleRoute[] {
  return [
    page(
      { path: PATH, role: 'viewer', query: { form: v.optional(v.string(), '') } },
      async (visit) => {
        const { viewer, query, address, nowMs } = visit
        const kept = await consoleAccess.keptForms.open(viewer.userId, query.form)
        const route = routes().find(
          ({ declaration: { method, path } }) => method === 'POST' && path === kept?.path,
        )
        if (kept === undefined || route?.again === undefined) throw new Refusal('not_found')
        const { declaration, again } = route
        // what they may do is asked anew: a role may have gone since
        const tenant = await entering(declaration.role, kept.parameters, viewer, tenants)
        if (isLookedAtOnly(declaration, viewer, tenant)) throw new Refusal('role_read_only')
        if (declaration.needsFreshSignIn === true && !isFreshSignIn(viewer, nowMs))
          return new Response(null, {
            status: 303,
            headers: { location: signInAddress(address, true), 'cache-control': 'no-store' },
          })
        const there = { ...visit, path: kept.parameters, query: {}, tenant }
        const view = await again(there as never, attemptOf(kept, declaration))
        return { ...view, ...(tenant !== undefined && { tenant }), status: 200 as const }
      },
    ),
  ]
}

function attemptOf({ values, choices, why }: KeptForm, { form = {} }: Declaration): Attempt {
  const hasSecret = Object.values(form).some(isSecret)
  const secrets = hasSecret ? ' Passwords and keys are never kept, so enter them again.' : ''
  return {
    values: new Map(values),
    choices: new Map(choices),
    problems: new Map(),
    isFine: why === 'fresh_sign_in',
    problem: `${WHY[why]} Review it, then submit it again.${secrets}`,
  }
}
