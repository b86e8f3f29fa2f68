/** `app.use(service.express())`: Express 4 and 5, and whatever else takes `(request, response, next)`. */
import { REQUEST_INVALID, type Guard } from '../guard.ts'
import { guardMessages, sendAnswer } from './carry-out.ts'
import type { Incoming, Outgoing } from './messages.ts'

/** `originalUrl` is the target, `url` what is left of it below `baseUrl`. */
type Mounted = Incoming & { originalUrl?: string; baseUrl?: string }
type Handler = (request: Mounted, response: Outgoing, next: () => void) => void

export function expressAdapter(guard: Guard): Handler {
  return (request, response, next) => {
    const target = request.originalUrl ?? request.url ?? ''
    guardMessages(guard, { request, response, target }, (outcome) => {
      if (outcome === undefined || outcome.target === target) return next()
      // below a mount Express puts the origin back in front of what is routed by
      if ((request.baseUrl ?? '') !== '') return sendAnswer(request, response, REQUEST_INVALID)
      request.url = outcome.target
      if (request.originalUrl !== undefined) request.originalUrl = outcome.target
      next()
    })
  }
}
