/**
 * A tenant's own database as the source of its users. Settings are tried first and saved from the
 * page that shows what came of it: that page carries them sealed, so that what is saved is what
 * was tried, and the password is in no page.
 */
import { html } from 'hono/html'
import * as v from 'valibot'
import { Refusal } from '../../../../shared/errors.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { mayChange } from '../../../console-access/roles.ts'
import { isSignUpOpen } from '../../../policy/password.ts'
import { DryRunBody, toDirectory } from '../../../requests/directory-fields.ts'
import type { StoredDirectory } from '../../../user-directory/user-directories.ts'
import type { Attempt } from '../../../pages/blocks/field.ts'
import { asking } from '../../asking.ts'
import { form } from '../../blocks/form.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import { emptyState } from '../../blocks/table.ts'
import { card, facts, moment } from '../../blocks/text.ts'
import type { Html } from '../../../pages/html.ts'
import { TENANT_PATH, tenantPath } from '../../navigation.ts'
import {
  action,
  done,
  page,
  type ApiCall,
  type ConsoleRoute,
  type TenantVisit,
  type View,
} from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { apiOf } from '../people/paths.ts'
import {
  attemptOf,
  COLUMNS_FORM,
  ColumnsFormBody,
  columnsFields,
  DIRECTORY_FORM,
  DirectoryFormBody,
  directoryFields,
  wishWith,
  type DirectoryWish,
  loginField,
} from './directory-form.ts'
import { trialBlock } from './trial.ts'

const PATH = `${TENANT_PATH}/directory` as const
const SaveBody = v.strictObject({ draft: v.string() })

const TRIED_TOO_LONG_AGO = 'This test has expired. Review your entries and test again.'

interface Draft {
  readonly wish: DirectoryWish
  readonly atMs: number
}

export function directoryRoutes(world: ConsoleWorld): readonly ConsoleRoute[] {
  const { directories, policies, vault } = world

  async function kept(tenantId: string): Promise<StoredDirectory | undefined> {
    try {
      return await directories.get(tenantId)
    } catch (error) {
      if (error instanceof Refusal && error.code === 'directory_not_found') return undefined
      throw error
    }
  }

  // who may only look at all tenants changes this one as its administrator
  const wishedBy = ({ viewer }: TenantVisit) =>
    mayChange(viewer) ? ('operator' as const) : ('administrator' as const)

  async function show(visit: TenantVisit, tried?: Html, attempt?: Attempt): Promise<View> {
    const { tenantId, name } = visit.tenant
    const stored = await kept(tenantId)
    const path = tenantPath(tenantId, 'directory')
    return {
      title: 'User directory',
      here: 'directory',
      intro: `Use your own database as the source of users for ${name}.`,
      buttons: stored === undefined ? [] : [linkButton(`${path}/edit`, 'Edit', 'quiet')],
      content:
        stored === undefined
          ? emptyState(
              'No directory connected',
              'Users are stored here, under Users. If yours are already in a database, sign-ins can look them up there with one read-only query and your existing password hashes.',
              mayChange(visit.viewer)
                ? linkButton(`${path}/edit`, 'Connect a database')
                : html`Ask an operator of this service to connect your database. You can then choose its columns.`,
            )
          : html`${card('Connection', settingsFacts(stored))}
              ${card('Test', trying(visit, tried, attempt), 'try')}
              ${card(
                'Remove',
                html`<p class="hint">Sign-ins then use only the users stored here.</p>
                  ${linkButton(`${path}/remove`, 'Remove directory', 'small')}`,
              )}`,
      calls: callsOf(tenantId),
    }
  }

  function trying(visit: TenantVisit, tried: Html | undefined, attempt: Attempt | undefined) {
    return html`${tried ?? ''}
      ${form(visit, {
        action: `${tenantPath(visit.tenant.tenantId, 'directory')}/check`,
        submit: tried === undefined ? 'Test connection' : 'Test again',
        look: 'quiet',
        attempt,
        content: loginField(attempt),
      })}`
  }

  async function editView(visit: TenantVisit, attempt?: Attempt, tried?: Html): Promise<View> {
    const { tenantId } = visit.tenant
    const isOperator = mayChange(visit.viewer)
    const stored = isOperator ? await kept(tenantId) : await directories.get(tenantId)
    return {
      title: stored === undefined ? 'Connect a database' : 'Edit user directory',
      here: 'directory',
      intro: 'Your settings are tested before they’re saved.',
      content: html`${tried === undefined ? '' : card('Result', tried)}
        ${
          stored === undefined || isOperator
            ? ''
            : card(
                'Set by an operator',
                html`<p class="hint">Only an operator can change these settings.</p>
                  ${connectionFacts(stored)}`,
              )
        }
        <div class="card narrow">${settingsForm(visit, stored, attempt)}</div>`,
      calls: callsOf(tenantId),
    }
  }

  function settingsForm(
    visit: TenantVisit,
    stored: StoredDirectory | undefined,
    attempt?: Attempt,
  ) {
    const path = tenantPath(visit.tenant.tenantId, 'directory')
    const isOperator = mayChange(visit.viewer)
    return form(visit, {
      action: isOperator ? `${path}/try` : `${path}/columns`,
      submit: 'Test',
      cancel: path,
      attempt,
      content: (isOperator ? directoryFields : columnsFields)(stored?.settings, attempt),
    })
  }

  const purposeOf = ({ tenant, viewer }: TenantVisit) =>
    `console.directory_draft:${tenant.tenantId}/${viewer.userId}`

  const seal = (visit: TenantVisit, wish: DirectoryWish) =>
    vault.seal(JSON.stringify({ wish, atMs: visit.nowMs }), purposeOf(visit))

  /** Of this tenant, and of this very person. */
  function unseal(visit: TenantVisit, sealed: string) {
    try {
      return JSON.parse(vault.open(sealed, purposeOf(visit))) as Draft
    } catch {
      return undefined
    }
  }

  /** Says what came of it; what works can be saved from there. */
  async function tryOut(visit: TenantVisit, wish: DirectoryWish): Promise<View> {
    const { tenantId } = visit.tenant
    const { login, ...settings } = wish
    const tried = await directories.tryOut(tenantId, toDirectory(settings), login, wishedBy(visit))
    if (tried.refusal !== undefined) {
      const { field, detail } = tried.refusal
      const attempt = attemptOf(wish, new Map([[field, detail]]))
      return { ...(await editView(visit, attempt, outcome(tried))), status: 422 as const }
    }
    const path = tenantPath(tenantId, 'directory')
    return {
      title: 'Save the user directory?',
      here: 'directory' as const,
      content: html`${card('Result', outcome(tried))}
        ${card(
          'Save',
          html`<p class="hint">From now on, people who sign in are looked up in ${wish.database} on ${wish.host}. The connection is tested once more before saving.</p>
            ${form(visit, { action: path, submit: 'Save', cancel: path, hidden: { draft: seal(visit, wish) } })}`,
        )}
        ${card('Keep editing', settingsForm(visit, await kept(tenantId), attemptOf(wish)))}`,
      calls: callsOf(tenantId),
    }
  }

  /** Once more with what was tried, and why: the password has to be typed again. */
  async function draftView(
    visit: TenantVisit,
    { values, problem = TRIED_TOO_LONG_AGO }: Attempt,
  ): Promise<View> {
    const { tenant, viewer } = visit
    // it has gone meanwhile, and where there is none an operator begins
    if (!mayChange(viewer) && (await kept(tenant.tenantId)) === undefined)
      return { title: 'User directory', here: 'directory', content: notice('problem', problem) }
    const draft = unseal(visit, values.get('draft') ?? '')
    if (draft === undefined) return editView(visit, undefined, notice('problem', problem))
    return editView(visit, { ...attemptOf(draft.wish), problem })
  }

  return [
    page({ path: PATH, role: 'tenant' }, (visit) => show(visit)),
    action(
      {
        path: `${PATH}/check`,
        role: 'tenant',
        form: { login: 'optional' },
        body: DryRunBody,
      },
      async (visit, { login }) => {
        const tried = await directories.dryRun(visit.tenant.tenantId, login)
        const values = new Map([['login', login ?? '']])
        return show(visit, outcome(tried), { values, choices: new Map(), problems: new Map() })
      },
      (visit, attempt) => show(visit, undefined, attempt),
    ),
    page({ path: `${PATH}/edit`, role: 'tenant', needsFreshSignIn: true }, (visit) =>
      editView(visit),
    ),
    action(
      {
        path: `${PATH}/try`,
        role: 'tenant',
        form: DIRECTORY_FORM,
        body: DirectoryFormBody,
        needsFreshSignIn: true,
      },
      tryOut,
      (visit, attempt) => editView(visit, attempt),
    ),
    action(
      {
        path: `${PATH}/columns`,
        role: 'tenant',
        form: COLUMNS_FORM,
        body: ColumnsFormBody,
        needsFreshSignIn: true,
      },
      async (visit, said) => {
        const { settings } = await directories.get(visit.tenant.tenantId)
        return tryOut(visit, wishWith(settings, said))
      },
      (visit, attempt) => editView(visit, attempt),
    ),
    action(
      {
        path: PATH,
        role: 'tenant',
        form: { draft: 'text' }, // sealed, and only ever opened for who has typed it
        body: SaveBody,
        needsFreshSignIn: true,
      },
      async (visit, { draft }) => {
        const { tenantId } = visit.tenant
        const { wish, atMs = 0 } = unseal(visit, draft) ?? {}
        if (wish === undefined || visit.nowMs - atMs > LIMITS.consoleKeptFormMs)
          throw new Refusal('form_stale', {}, TRIED_TOO_LONG_AGO)
        const { login, ...settings } = wish
        await directories.put(tenantId, toDirectory(settings), login, wishedBy(visit), visit.actor)
        return done(tenantPath(tenantId, 'directory'), 'User directory saved.')
      },
      draftView,
    ),
    ...asking(
      { path: `${PATH}/remove`, role: 'tenant', needsFreshSignIn: true, here: 'directory' },
      async (visit) => {
        const { tenantId, name } = visit.tenant
        const path = tenantPath(tenantId, 'directory')
        const stored = await kept(tenantId)
        return {
          title: 'Remove the user directory?',
          effects:
            stored === undefined
              ? ['No directory is connected, so nothing changes.']
              : [
                  `People who are only in ${stored.settings.database} on ${stored.settings.host} can no longer sign in to ${name}.`,
                  'Existing sessions continue until they end. To end them now, go to Sessions afterwards.',
                  'The stored database password is deleted. Your database isn’t changed.',
                  ...(isSignUpOpen(await policies.of(tenantId))
                    ? [
                        'People can create accounts themselves again, as the password policy says. Turn that off first if you don’t want it.',
                      ]
                    : []),
                ],
          submit: 'Remove directory',
          cancel: path,
          calls: [{ method: 'DELETE', path: `${apiOf(tenantId)}/user-directory` }],
        }
      },
      async ({ tenant: { tenantId }, actor }) => {
        await directories.remove(tenantId, actor)
        return done(tenantPath(tenantId, 'directory'), 'User directory removed.')
      },
    ),
  ]
}

function outcome(tried: Parameters<typeof trialBlock>[0] & { readonly refusal: unknown }): Html {
  return html`${
    tried.refusal === undefined
      ? notice('success', 'The test passed.')
      : notice('problem', 'The test failed. See the first failed step below.')
  }
  ${trialBlock(tried)}`
}

function settingsFacts(stored: StoredDirectory) {
  return html`${connectionFacts(stored)}
    <h3>Columns</h3>
    ${facts(Object.entries(stored.settings.columns).map(([role, column]) => [role.replace('_', ' '), column ?? null]))}`
}

function connectionFacts({ settings, updatedAtMs }: StoredDirectory) {
  const { kind, host, port, database, username, tls, query } = settings
  return html`${facts([
    ['Database', kind === 'postgres' ? 'PostgreSQL' : 'MySQL or MariaDB'],
    ['Host', `${host}:${port}`],
    ['Name', database],
    ['User', username],
    ['Password', 'stored encrypted, never shown'],
    ['Encryption', tls === 'verify' ? 'TLS' : 'none'],
    ['Changed', moment(updatedAtMs)],
  ])}
    <h3>Query</h3>
    <pre tabindex="0" role="group" aria-label="Query"><code>${query}</code></pre>`
}

function callsOf(tenantId: string): ApiCall[] {
  const api = `${apiOf(tenantId)}/user-directory`
  const body = {
    kind: 'postgres',
    host: 'db.example.com',
    database: 'app',
    username: 'sign_in',
    password: '<DATABASE_PASSWORD>',
    query: 'SELECT id, username, email, name, hash FROM users WHERE email = $1',
    columns: {
      id: 'id',
      username: 'username',
      email: 'email',
      name: 'name',
      password_hash: 'hash',
    },
  }
  return [
    { method: 'PUT', path: api, body, label: 'Test and save' },
    {
      method: 'POST',
      path: `${api}/dry-run`,
      body: { login: 'ada@acme.example' },
      label: 'Test',
    },
    { method: 'DELETE', path: api, label: 'Remove' },
  ]
}
