/** What asks before it is done: a page that says what will happen, and its form, at one address. */
import { html } from 'hono/html'
import type * as v from 'valibot'
import type { QueryFields } from '../http/query.ts'
import type { Html } from '../pages/html.ts'
import { form } from './blocks/form.ts'
import { action, page } from './route.ts'
import type { Answered, ConsoleRoute, Declaration, Entering, Outcome, Role, View } from './route.ts'
import type { Attempt } from '../pages/blocks/field.ts'

export interface Question extends Pick<View, 'here' | 'tenant' | 'calls'> {
  /** A question: «Suspend Acme?» */
  readonly title: string
  /** What will happen, and to whom; each a sentence. */
  readonly effects: readonly (string | Html)[]
  /** What the button says, in a verb of its own: «Suspend it». */
  readonly submit: string
  readonly cancel: string
  readonly hidden?: Readonly<Record<string, string>>
  readonly content?: Html
  readonly isHarmless?: boolean
}

/** For what cannot be undone, or what people notice. What is no question is answered as it is. */
export function asking<
  const R extends Role,
  const Path extends string,
  const Query extends QueryFields = Record<never, never>,
  Body extends v.GenericSchema = v.GenericSchema<undefined>,
>(
  {
    here,
    isAskedAgain = false,
    query,
    ...both
  }: Omit<Declaration, 'method'> &
    Pick<View, 'here'> & {
      readonly path: Path
      readonly role: R
      readonly query?: Query
      readonly body?: Body
      /** What was wrong with the form is said beside it; else it is a page of its own. */
      readonly isAskedAgain?: boolean
    },
  ask: (
    visit: Entering<R, Path, Query>,
    attempt?: Attempt,
  ) => Question | Outcome | Promise<Question | Outcome>,
  handle: (visit: Entering<R, Path, Record<never, never>>, body: v.InferOutput<Body>) => Answered,
): ConsoleRoute[] {
  const { path, role, needsFreshSignIn = false } = both
  async function show(visit: Entering<R, Path, Query>, attempt?: Attempt): Promise<Outcome> {
    const asked = await ask(visit, attempt)
    if (!('effects' in asked)) return asked
    const { effects, submit, cancel, hidden, content, isHarmless = false, ...view } = asked
    const parameters: Readonly<Record<string, string>> = visit.path
    const sent = { submit, cancel, hidden, content, attempt } as const
    return {
      ...(here && { here }),
      ...view,
      content: html`<div class="card narrow">
        <ul class="effects">${effects.map((effect) => html`<li>${effect}</li>`)}</ul>
        ${form(visit, {
          ...sent,
          action: path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
            encodeURIComponent(parameters[name] ?? ''),
          ),
          look: isHarmless ? undefined : 'danger',
        })}
      </div>`,
    }
  }
  return [
    page({ path, role, needsFreshSignIn, isForForm: true, ...(query && { query }) }, (visit) =>
      show(visit),
    ),
    action(both, handle, isAskedAgain ? (show as never) : undefined),
  ]
}
