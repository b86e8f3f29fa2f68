/**
 * Every page of the console and everything that can be done there is declared once, and named in
 * `routes.ts`. The route is mounted from its declaration (`mount.ts`): who may come in, what is read
 * of path, query and form. The walk of strangers, of other tenants' administrators and of forged
 * forms (test/control-plane/console/access.test.ts) is made of the same table.
 *
 * The pattern of a page is `tenant/alerts-routes.ts`: a function of a view, which is shown anew with
 * what was typed when something is wrong with it; `page()` for looking, `action()` for its forms, with
 * the schema and the service of the operator API; `asking()` where something is taken away.
 *
 * `done()` goes on to a page that says so, with the receipt of the gateways if a tenant has changed.
 * A refusal of a service with a `field` stands beside that field, any other above the form. A secret
 * that is shown once: return a view instead of `done()`. A service's Refusal from a page becomes a
 * page that says it; 404 is the same page for what does not exist and for what the viewer may not see.
 */
import type * as v from 'valibot'
import type { QueryFields, QueryValues } from '../http/query.ts'
import type { Enforced } from '../store/enforced.ts'
import type { Actor } from '../store/store.ts'
import type { Tenant } from '../tenants/tenants.ts'
import type { Viewer } from '../console-access/console-sessions.ts'
import type { FormShape } from './form-values.ts'
import type { NavigationEntry } from './navigation.ts'
import type { Html } from '../pages/html.ts'
import type { Attempt } from '../pages/blocks/field.ts'

/**
 * operator: who runs the fleet. tenant: they, and the administrators of the tenant in the path.
 * viewer: whoever is signed in. anyone: before that; such a page looks after itself.
 */
export type Role = 'operator' | 'tenant' | 'viewer' | 'anyone'

export interface Declaration {
  readonly method: 'GET' | 'POST'
  /** Whole; parameters as {tenant_id}. */
  readonly path: string
  readonly role: Role
  readonly query?: QueryFields
  /** How the fields of the form are read. Without one, nothing but the proofs is. */
  readonly form?: FormShape
  /** What they must be. */
  readonly body?: v.GenericSchema
  /** A second sending of the same form is answered as the first one was. */
  readonly isOnce?: boolean
  /** The person has proved who they are within the last five minutes, or does so now. */
  readonly needsFreshSignIn?: boolean
  /**
   * Of a page: it is there for its form, and for nobody who may only look; where it asks for a fresh
   * sign-in it is so, unless this says that it is worth reading too.
   */
  readonly isForForm?: boolean
}

/** What a request brings along, however it is let in. */
export interface Visit {
  readonly path: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  readonly actor: Actor
  readonly requestId: string
  readonly nowMs: number
  /** The address of this page with its query: where to come back to. */
  readonly address: string
  /** The network address that the request came from, as a sign-in from there would show it. */
  readonly from: string
  /** Of a browser's, or '' where a test has none. */
  readonly cookies: string
  /** For what lasts: whether somebody still listens. */
  readonly request: Request
  /** For the forms of the page; undefined before anybody has signed in. */
  readonly proofs: FormProofs | undefined
}

interface FormProofs {
  readonly csrf: string
  newFormId(): string
  /** Who is looking may change nothing here: what forms hold is shown, and no form. */
  readonly isReadOnly: boolean
}

export interface ViewerVisit extends Visit {
  readonly viewer: Viewer
  readonly proofs: FormProofs
}

export interface TenantVisit extends ViewerVisit {
  readonly tenant: Tenant
}

type VisitOf<R extends Role> = R extends 'tenant'
  ? TenantVisit
  : R extends 'anyone'
    ? Visit & { readonly viewer?: Viewer | undefined }
    : ViewerVisit

/** What a page shows; the frame around it is the same for all. */
export interface View {
  readonly title: string
  /** The heading, where it is not the title. */
  readonly heading?: string
  readonly intro?: string | Html
  readonly content: Html | readonly Html[]
  /** Beside the heading: what can be done here. */
  readonly buttons?: readonly Html[]
  readonly here?: NavigationEntry
  /** Whose page it is: shows the navigation of that tenant. Of a `tenant` page it is known. */
  readonly tenant?: Pick<Tenant, 'tenantId' | 'name' | 'mode'>
  readonly status?: 200 | 400 | 401 | 403 | 404 | 409 | 410 | 413 | 422 | 429 | 500 | 503
  /** Brings the script along that draws `chart()` blocks. */
  readonly hasCharts?: boolean
  /** The calls that do the same as this page and its forms; shown to operators. */
  readonly calls?: readonly ApiCall[]
}

export interface ApiCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  /** What it is for, where a page has several. */
  readonly label?: string
}

export interface Done {
  readonly kind: 'done'
  readonly location: string
  readonly said: string
  /** The tenant that the change was about, whose receipt is shown. */
  readonly changed?: string | undefined
  /** By which revision it is gone, where that is what has happened to it. */
  readonly goneBy?: number | undefined
  /** Of what has ended sessions: who refuses them by now. */
  readonly enforced?: Promise<Enforced> | undefined
}

export function done(
  location: string,
  said: string,
  { changed, goneBy, enforced }: Pick<Done, 'changed' | 'goneBy' | 'enforced'> = {},
): Done {
  return { kind: 'done', location, said, changed, goneBy, enforced }
}

/** A Response is for what is no page: redirects of the sign-in, streams, JSON. */
export type Outcome = View | Done | Response
export type Answered = Outcome | Promise<Outcome>

/** With its types worn off, as the table holds it. */
export interface ConsoleRoute {
  readonly declaration: Declaration
  readonly handle: (visit: never, body: never) => Answered
  readonly again?: ((visit: never, attempt: Attempt) => View | Promise<View>) | undefined
}

type ParameterNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterNames<Rest>
  : never

export type Entering<
  R extends Role,
  Path extends string,
  Query extends QueryFields,
> = VisitOf<R> & {
  readonly path: Readonly<Record<ParameterNames<Path>, string>>
  readonly query: QueryValues<Query>
}

type PageDeclaration = Omit<Declaration, 'method' | 'form' | 'body' | 'isOnce'>

export function page<
  const R extends Role,
  const Path extends string,
  const Query extends QueryFields = Record<never, never>,
>(
  declaration: PageDeclaration & {
    readonly path: Path
    readonly role: R
    readonly query?: Query
  },
  handle: (visit: Entering<R, Path, Query>) => Answered,
): ConsoleRoute {
  return { declaration: { ...declaration, method: 'GET' }, handle }
}

export function action<
  const R extends Role,
  const Path extends string,
  Body extends v.GenericSchema = v.GenericSchema<undefined>,
>(
  declaration: Omit<Declaration, 'method'> & {
    readonly path: Path
    readonly role: R
    readonly body?: Body
  },
  handle: (visit: Entering<R, Path, Record<never, never>>, body: v.InferOutput<Body>) => Answered,
  /** The page with the form once more; without one, what was wrong is a page of its own. */
  again?: (
    visit: Entering<R, Path, Record<never, never>>,
    attempt: Attempt,
  ) => View | Promise<View>,
): ConsoleRoute {
  return { declaration: { ...declaration, method: 'POST' }, handle, again }
}
