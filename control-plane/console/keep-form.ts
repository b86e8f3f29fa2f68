/** What was typed waits for its person where it cannot be taken. */
import { Refusal } from '../../shared/errors.ts'
import type { ApiContext } from '../http/context.ts'
import type { KeptForm } from '../console-access/kept-forms.ts'
import { isForScripts } from './answers.ts'
import { unsentAddress } from './unsent-routes.ts'
import type { ConsoleWorld } from './world.ts'
import { CSRF_FIELD, FORM_ID_FIELD, kept, type SentForm } from './form-values.ts'
import type { ConsoleRoute } from './route.ts'
import { readForm, refuseForeignForm } from './form-proofs.ts'

/** Only of a page that we have made for somebody; whoever it was is the one who gets it back. */
export async function keepSignedOut(
  c: ApiContext,
  route: ConsoleRoute,
  world: ConsoleWorld,
  isTooOften: (userId: string) => boolean,
): Promise<string | undefined> {
  if (isForScripts(c) || route.again === undefined) return undefined
  refuseForeignForm(c, world.baseUrl)
  const { proofs } = world.consoleAccess
  const sent = await readForm(c, route.declaration.form ?? {}, undefined).catch(noneIfTooLarge)
  if (sent === undefined) return undefined
  const userId = proofs.csrfHolder(sent.values.get(CSRF_FIELD) ?? '')
  if (userId === undefined) return undefined
  if (!proofs.isFormId(userId, sent.values.get(FORM_ID_FIELD) ?? '')) return undefined
  if (isTooOften(userId)) return undefined
  return keepForm(c, route, sent, userId, 'session_over', world)
}

/** Who is not signed in is told so, and that more than a stranger's form is not kept. */
function noneIfTooLarge(error: unknown): undefined {
  if (!(error instanceof Refusal) || error.code !== 'body_too_large') throw error
}

export async function keepForm(
  c: ApiContext,
  { declaration: { path, form = {} } }: ConsoleRoute,
  sent: SentForm,
  userId: string,
  why: KeptForm['why'],
  { consoleAccess: { keptForms } }: ConsoleWorld,
): Promise<string> {
  const { values, choices } = kept(form, sent)
  const parameters = c.req.param() as Readonly<Record<string, string>>
  const found = { path, parameters, values: [...values], choices: [...choices], why }
  return unsentAddress(await keptForms.keep(userId, found))
}
