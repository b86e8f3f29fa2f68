/** The life of a form: it is ours, it is complete, it is carried out once, and its page says so. */
import { Refusal } from '../../shared/errors.ts'
import type { ApiContext } from '../http/context.ts'
import type { Viewer } from '../console-access/console-sessions.ts'
import type { FormAnswer } from './form-answers.ts'
import { answerRefusal, isForScripts } from './answers.ts'
import type { ConsoleWorld } from './world.ts'
import { checkForm, refusedAttempt, type SentForm } from './form-values.ts'
import type { ConsoleRoute, Done, Outcome, View, Visit } from './route.ts'
import { FORGED, isSurelyOwn, proveForm } from './form-proofs.ts'
import { keepForm } from './keep-form.ts'
import type { Attempt } from '../pages/blocks/field.ts'

interface Asked {
  readonly sent: SentForm
  readonly visit: Visit
  readonly viewer: Viewer | undefined
  /** It asks who is there, and nobody has proved that lately. */
  readonly lacksProof: boolean
  readonly show: (view: View) => Promise<Response>
  /** Counts it; what there is to say where it was one too many. */
  readonly tooOften: () => Refusal | undefined
  /** Counts as well how often a form is drawn again that was sent too late or too often. */
  readonly isShownAgain: () => boolean
}

export async function carryOut(
  c: ApiContext,
  route: ConsoleRoute,
  { sent, visit, viewer, lacksProof, show, tooOften, isShownAgain }: Asked,
  world: ConsoleWorld,
): Promise<Outcome> {
  const { declaration, handle, again } = route
  const { form = {}, body: schema, isOnce = false } = declaration
  const formId = proveForm(sent, viewer, world)
  const showAgain = async (attempt: Attempt, status: View['status']) => {
    if (again === undefined) return undefined
    const view = await again(visit as never, attempt)
    const { title, heading = title } = view
    // what is read out first
    return { ...view, title: `Error: ${title}`, heading, status: status ?? 422 }
  }
  if (formId === FORGED) {
    const stale = new Refusal('form_stale')
    const shown =
      isSurelyOwn(c, world.baseUrl) && !lacksProof && isShownAgain()
        ? await showAgain(refusedAttempt(form, sent, stale), 409)
        : undefined
    if (shown === undefined) throw new Refusal('cross_site_form')
    return shown
  }
  const refusal = tooOften() // what is kept of a form is written as well
  if (refusal !== undefined) {
    const shown =
      !lacksProof && isShownAgain()
        ? await showAgain(refusedAttempt(form, sent, refusal), 429)
        : undefined
    if (shown === undefined) throw refusal
    return shown
  }
  if (lacksProof) {
    const isKept = viewer !== undefined && again !== undefined && !isForScripts(c)
    const keptAt = isKept
      ? await keepForm(c, route, sent, viewer.userId, 'fresh_sign_in', world)
      : undefined
    return answerRefusal(c, new Refusal('fresh_sign_in_needed'), show, keptAt)
  }
  const checked = checkForm(form, schema, sent)
  if (checked.kind === 'wrong') {
    const shown = await showAgain(checked.attempt, 422)
    if (shown !== undefined) return shown
    const [field = '', wish = 'The form is incomplete.'] = [...checked.attempt.problems][0] ?? []
    throw new Refusal('field_invalid', { field }, checked.attempt.problem ?? `${field}: ${wish}`)
  }
  const { formAnswers } = world
  const { spentForms } = world.consoleAccess
  const onceId = isOnce ? formId : undefined
  const content = JSON.stringify([c.req.path, checked.body ?? null])
  const known = onceId === undefined ? undefined : await spentForms.claim(onceId, content)
  try {
    if (onceId === undefined) return await handle(visit as never, checked.body as never)
    const key = `${onceId} ${c.req.path}`
    if (known !== undefined) {
      if (!known.isSame) throw new Refusal('form_changed')
      const answer = known.location ?? (await formAnswers.of(key))
      if (answer === undefined) throw new Refusal('form_spent')
      return typeof answer === 'string' ? c.redirect(answer, 303) : answer
    }
    const carriedOut = Promise.resolve(handle(visit as never, checked.body as never))
    const settled = carriedOut.then((outcome) => settle(outcome, onceId, visit, viewer, world))
    formAnswers.keep(key, settled)
    const answer = await settled
    return typeof answer === 'string' ? c.redirect(answer, 303) : (answer ?? (await carriedOut))
  } catch (error) {
    if (!(error instanceof Refusal)) throw error // who knows how far it came: it stays spent
    if (error.code === 'form_spent') throw error
    if (onceId !== undefined && known === undefined) await spentForms.release(onceId)
    const shown = await showAgain(refusedAttempt(form, sent, error), statusOf(error))
    if (shown === undefined) throw error
    return shown
  }
}

/** A page that is shown once has no address, so its form stays spent without one. */
async function settle(
  outcome: Outcome,
  formId: string,
  visit: Visit,
  viewer: Viewer | undefined,
  world: ConsoleWorld,
): Promise<FormAnswer> {
  if (outcome instanceof Response) return undefined
  if (!('kind' in outcome)) return outcome
  const location = await locationOf(outcome, viewer, world, visit.nowMs)
  await world.consoleAccess.spentForms.settle(formId, location)
  return location
}

const statusOf = ({ status }: Refusal): View['status'] =>
  status === 400 || status === 404 ? 422 : (status as View['status'])

export async function locationOf(
  outcome: Done,
  viewer: Viewer | undefined,
  { receipts, consoleAccess: { proofs } }: ConsoleWorld,
  startedMs: number,
): Promise<string> {
  if (viewer === undefined) return outcome.location
  const note = await receipts.noteOf(outcome, startedMs, viewer)
  const url = new URL(outcome.location, 'http://console.invalid')
  url.searchParams.set('done', proofs.writeNote(viewer.userId, note))
  return url.pathname + url.search + url.hash
}
