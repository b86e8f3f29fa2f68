/** `app.use(service.koa())`. */
import type { TokenClaims } from '../../../../shared/enforcement/token.ts'
import { REQUEST_INVALID, type Guard } from '../guard.ts'
import { guardMessages, sendAnswer } from './carry-out.ts'
import type { Incoming, Outgoing } from './messages.ts'

interface KoaContext {
  readonly req: Incoming
  readonly res: Outgoing
  readonly state: { serviceClaims?: TokenClaims | undefined }
  originalUrl: string
  /** `false`: the answer is written already. */
  respond?: boolean
}

export function koaAdapter(guard: Guard) {
  return (given: object, next: () => Promise<unknown>): Promise<unknown> => {
    const context = given as KoaContext
    const { req: request, res: response, originalUrl: target } = context
    return new Promise((resolve, reject) => {
      guardMessages(
        guard,
        { request, response, target },
        (outcome) => {
          context.state.serviceClaims = request.serviceClaims
          const isRewritten = outcome !== undefined && outcome.target !== target
          if (isRewritten && request.url !== target) {
            // below a mount: what is routed by is not what was decided on
            sendAnswer(request, response, REQUEST_INVALID)
            context.respond = false
            return resolve(undefined)
          }
          if (isRewritten) {
            request.url = outcome.target
            context.originalUrl = outcome.target
          }
          next().then(resolve, reject)
        },
        () => {
          context.respond = false
          resolve(undefined)
        },
      )
    })
  }
}
