/** Name, e-mail address and password, changed by the person themselves. */
import { isUnavailable } from '../answers.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { isEmailAddress } from '../../accounts/email-address.ts'
import {
  changeEmailPage,
  changeNamePage,
  changePasswordPage,
  emailAskedPage,
} from '../pages/account/change-pages.ts'
import { passwordSavedPage } from '../pages/account-pages.ts'
import { placeOf, requestIdOf, showMessage, showPage } from '../show.ts'
import type { Realm, RealmWorld } from '../world.ts'
import { wasTakenAway } from './asking-session.ts'
import type { freshProofs } from './fresh-proof.ts'
import { hasUnseen } from '../../../shared/unseen.ts'
import { wrongPartOf, type Back, type OwnPage, type OwnRequest } from './own-page.ts'

/** The fields of a new password. */
const NEW = ['password', 'repeated']

export function personChanges(
  realm: Realm,
  world: RealmWorld,
  proofs: ReturnType<typeof freshProofs>,
  back: Back,
): Readonly<Record<string, OwnPage>> {
  const { tenant, issuer } = realm
  const { tenantId } = tenant
  const { users, accountMail, policies } = world
  const { accountUrl } = back
  const applicationUrl = realm.applicationUrls[0] ?? issuer

  return {
    '/account/profile': { get: kept(askForName), post: kept(saveName) },
    '/account/email': { proof: 'always', get: kept(askForEmail), post: kept(sendLink) },
    // The current password is asked for in the form itself, a factor has to be shown before
    '/account/password': {
      proof: 'with_factor',
      get: kept(askForPassword),
      post: kept(savePassword),
    },
  }

  /** Who is kept elsewhere has nothing to change here; the page of the account says so. */
  function kept(handler: (request: OwnRequest) => Promise<unknown>) {
    return async (request: OwnRequest) =>
      request.holder.user.source === 'directory' ? back.done(request.ctx) : handler(request)
  }

  function viewOf({ ctx, holder }: OwnRequest, value: string, problem?: string) {
    const place = placeOf(ctx, world, realm)
    const action = `${issuer}${ctx.path}`
    return { place, action, accountUrl, csrf: holder.csrf, value, problem }
  }

  async function askForName(request: OwnRequest, value?: string, problem?: string) {
    const view = viewOf(request, value ?? request.holder.user.name, problem)
    return showPage(request.ctx, problem === undefined ? 200 : 422, changeNamePage(view))
  }

  async function saveName(request: OwnRequest) {
    const { ctx, holder, fields } = request
    const name = (fields.get('name') ?? '').trim()
    const { problems } = placeOf(ctx, world, realm).texts.account.own
    const isShown = name !== '' && name.isWellFormed() && !hasUnseen(name)
    if (!isShown || name.length > LIMITS.nameCharactersMax)
      return askForName(request, name.slice(0, LIMITS.nameCharactersMax), problems.name_invalid)
    const { userId } = holder.user
    await users.patch(tenantId, userId, { name }, { name: userId, requestId: requestIdOf(ctx) })
    return back.done(ctx, 'name')
  }

  async function askForEmail(
    request: OwnRequest,
    value = '',
    problem?: string,
    wrong?: readonly string[],
  ) {
    const { email } = request.holder.user
    const page = changeEmailPage({ ...viewOf(request, value, problem), wrong, email })
    return showPage(request.ctx, problem === undefined ? 200 : 422, page)
  }

  /** Whether somebody else has the address is told to nobody but whoever reads its mails. */
  async function sendLink(request: OwnRequest) {
    const { ctx, holder, fields } = request
    const place = placeOf(ctx, world, realm)
    const { problems } = place.texts.account.own
    const email = (fields.get('email') ?? '').trim()
    if (!isEmailAddress(email))
      return askForEmail(request, email.slice(0, LIMITS.emailCharactersMax), problems.email_invalid)
    const { user } = holder
    const actor = { name: user.userId, requestId: requestIdOf(ctx) }
    const isSent = await accountMail.confirmEmail(
      user,
      email,
      actor,
      place.texts.language,
      holder.sid,
    )
    if (!isSent) return askForEmail(request, email, problems.mails_full, [])
    return showPage(ctx, 200, emailAskedPage(place, email, accountUrl))
  }

  async function askForPassword(
    request: OwnRequest,
    problem?: string,
    wrong?: readonly string[],
    status = problem === undefined ? 200 : 422,
  ) {
    const { ctx, holder } = request
    const charactersMin = (await policies.of(tenantId)).password.min_length
    const view = { ...viewOf(request, holder.user.username, problem), wrong, charactersMin }
    return showPage(ctx, status, changePasswordPage(view))
  }

  async function savePassword(request: OwnRequest) {
    const { ctx, holder, fields } = request
    const { user } = holder
    const place = placeOf(ctx, world, realm)
    const { account } = place.texts
    const [current, plain] = [fields.get('current') ?? '', fields.get('password') ?? '']
    if (plain !== fields.get('repeated'))
      return askForPassword(request, account.passwordsDiffer, NEW)
    const shown = { password: current, code: '', passkey: '' }
    const proven = await proofs.prove(ctx, holder, shown, false)
    if (proven.kind !== 'proven')
      return askForPassword(
        request,
        back.proofSentence(ctx, proven),
        wrongPartOf(proven) === 'password' ? ['current'] : [],
      )
    const actor = { name: user.userId, requestId: requestIdOf(ctx) }
    try {
      const problem = await users.choosePassword(tenantId, user.userId, plain, actor, {
        alongside: async (change, before) => {
          const { queries } = change
          const since = { userId: user.userId, askedAtMs: holder.signedInAtMs }
          const isTaken = await wasTakenAway(queries, tenantId, since, holder.sid)
          if (isTaken || before.passwordHash !== user.passwordHash) throw new Overtaken()
          await accountMail.tellPasswordChanged(change, before, place.texts.language)
        },
      })
      if (problem !== undefined)
        return await askForPassword(request, place.texts.steps.passwordProblem[problem], NEW)
    } catch (error) {
      if (error instanceof Overtaken) return showMessage(ctx, world, realm, 'expired')
      if (isUnavailable(error)) return askForPassword(request, place.texts.busy, [], 503)
      throw error
    }
    accountMail.deliver()
    return showPage(ctx, 200, passwordSavedPage(place, 'reset', applicationUrl))
  }
}

/** While the new password was hashed, the session or the password from before was taken away. */
class Overtaken extends Error {}
