/** A page of somebody's own account, and the way back to it. */
import type { ProofPart } from '../pages/account/change-pages.ts'
import type { DoneKind, OwnProblem } from '../pages/account/own-account-page.ts'
import type { RealmContext } from '../world.ts'
import type { Proven } from './fresh-proof.ts'
import type { Holder } from './holder.ts'

/** One request of the holder of an account. */
export interface OwnRequest {
  readonly ctx: RealmContext
  readonly holder: Holder
  /** Empty where the page is only looked at. */
  readonly fields: ReadonlyMap<string, string>
}

export type OwnPageHandler = (request: OwnRequest) => Promise<unknown>

export interface OwnPage {
  /** Only for who has proved lately that it is they; or who has, if they have a factor. */
  readonly proof?: 'always' | 'with_factor'
  readonly get?: OwnPageHandler
  readonly post?: OwnPageHandler
}

/** How the changes lead back to the page of the whole account. */
export interface Back {
  readonly accountUrl: string
  done(ctx: RealmContext, kind?: DoneKind): void
  problem(request: OwnRequest, problem: OwnProblem, status?: number): Promise<unknown>
  proofSentence(ctx: RealmContext, proven: Proven): string | undefined
}

/** What has to be typed again; undefined: typing does not help. */
export const wrongPartOf = ({ kind }: Proven): ProofPart | undefined =>
  kind === 'wrong_password'
    ? 'password'
    : kind === 'wrong_code' || kind === 'code_missing'
      ? 'code'
      : undefined
