/** `createServer(service.node(listener))`: around everything that a server does. */
import type { Guard } from '../guard.ts'
import { guardMessages } from './carry-out.ts'
import type { Incoming, Outgoing } from './messages.ts'

export type Listener = (request: Incoming, response: Outgoing) => unknown

/** Also for `checkContinue`, where the refused then need not send their body. */
export function nodeAdapter(guard: Guard, listener: Listener): Listener {
  return (request, response) =>
    guardMessages(guard, { request, response }, (outcome) => {
      if (outcome !== undefined) request.url = outcome.target
      listener(request, response)
    })
}
