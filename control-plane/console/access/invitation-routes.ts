/** Where the link of an invitation leads: accepted with an account, or with a new one. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { Refusal } from '../../../shared/errors.ts'
import { fold } from '../../accounts/login-keys.ts'
import { textField, type Attempt } from '../../pages/blocks/field.ts'
import { form } from '../blocks/form.ts'
import { linkButton } from '../../pages/blocks/form.ts'
import type { Html } from '../../pages/html.ts'
import { tenantPath } from '../navigation.ts'
import { action, done, page, type View, type Visit } from '../route.ts'
import type { ConsoleWorld } from '../world.ts'
import type { Viewer } from '../../console-access/console-sessions.ts'
import { INVITATION_PATH, type OpenedInvitation } from '../../console-access/invitations.ts'
import { signInAddress } from './return-address.ts'
import { WelcomeBody } from './welcome-routes.ts'

const ACCEPT_PATH = `${INVITATION_PATH}/accept`

const link = v.pipe(v.string(), v.maxLength(200, 'the link from the mail'))
const { name, password } = WelcomeBody.entries

const LINK_IS_OVER =
  'This invitation has been used or withdrawn, was replaced by a newer one, or has expired (after 7 days). Ask your colleague for a new one.'

type Asked = Visit & { readonly viewer?: Viewer | undefined }

export function invitationRoutes({ consoleAccess }: ConsoleWorld) {
  const { invitations } = consoleAccess

  async function show(visit: Asked, secret: string, attempt?: Attempt): Promise<View> {
    const opened = await invitations.look(secret)
    if (opened === undefined) throw new Refusal('ticket_spent', {}, LINK_IS_OVER)
    const { tenantName, email, isReadOnly } = opened
    return {
      title: `${isReadOnly ? 'View' : 'Administer'} ${tenantName}`,
      intro: `This invitation is for ${email}.`,
      content: html`<div class="card narrow">${wayIn(visit, opened, secret, attempt)}</div>`,
    }
  }

  return [
    page(
      { path: INVITATION_PATH, role: 'anyone', query: { link: v.optional(link, '') } },
      (visit) => show(visit, visit.query.link),
    ),
    action(
      {
        path: INVITATION_PATH,
        role: 'anyone',
        form: { link: 'text', name: 'text', password: 'secret' },
        body: v.strictObject({ link, name, password }),
      },
      async (visit, { link: secret, ...person }) => {
        const opened = await invitations.look(secret)
        if (opened === undefined || opened.hasAccount)
          throw new Refusal('ticket_spent', {}, LINK_IS_OVER)
        await invitations.acceptAsNew(secret, person, visit.requestId)
        return {
          title: 'Account created',
          intro: 'Sign in to set up your second factor.',
          content: html`<div class="card">
            ${linkButton(signInAddress(tenantPath(opened.tenantId)), 'Sign in')}
          </div>`,
        }
      },
      (visit, attempt) => show(visit, attempt.values.get('link') ?? '', attempt),
    ),
    action(
      {
        path: ACCEPT_PATH,
        role: 'viewer',
        form: { link: 'text' },
        body: v.strictObject({ link }),
        needsFreshSignIn: true,
      },
      async ({ viewer, actor }, { link: secret }) => {
        const tenantId = await invitations.accept(secret, viewer.userId, actor)
        return done(tenantPath(tenantId), 'You now have access to this tenant.')
      },
      (visit, attempt) => show(visit, attempt.values.get('link') ?? '', attempt),
    ),
  ]
}

function wayIn(
  visit: Asked,
  { email, hasAccount, tenantName, isReadOnly }: OpenedInvitation,
  secret: string,
  attempt: Attempt | undefined,
): Html {
  const { viewer } = visit
  const hidden = { link: secret }
  if (viewer !== undefined)
    return fold(viewer.email) === fold(email)
      ? html`<p>Accept to ${isReadOnly ? 'view' : 'administer'} ${tenantName}.</p>
          ${form(visit, { action: ACCEPT_PATH, submit: 'Accept', cancel: '/console', hidden, attempt })}`
      : html`<p>You are signed in as ${viewer.email}. Sign out first, then open the link again.</p>
          ${form(visit, { action: '/console/sign-out', submit: 'Sign out', look: 'quiet' })}`
  if (hasAccount) {
    const here = `${INVITATION_PATH}?link=${encodeURIComponent(secret)}`
    return html`<p>You already have a console account. Sign in with it to accept.</p>
      ${linkButton(signInAddress(here, true), 'Sign in')}`
  }
  return form(visit, {
    action: INVITATION_PATH,
    submit: 'Create account',
    hidden,
    attempt,
    content: html`${textField({ name: 'name', label: 'Your name', autocomplete: 'name', attempt })}
    ${textField({ name: 'password', label: 'Password', type: 'password', autocomplete: 'new-password', hint: 'At least 12 characters, and hard to guess.', attempt })}`,
  })
}
