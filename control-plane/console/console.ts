/**
 * The console with all its pages, as an app of its own. It is a fourth of what a control plane would
 * load at its start, and most of those that start are asked for an API first, or for nothing else:
 * `app.ts` loads it when somebody comes here.
 */
import type { Hono } from 'hono'
import type { CustomFetch } from 'openid-client'
import { createRelyingParty } from '../../shared/sign-in/relying-party.ts'
import type { ApiEnv } from '../http/context.ts'
import { mountConsole } from './mount.ts'
import { consoleRoutes } from './routes.ts'
import type { ConsoleWorld } from './world.ts'

/** `app`: with what all answers of this program have. `realmFetch`: how its own realm is reached. */
export function openConsole(
  app: Hono<ApiEnv>,
  given: Omit<ConsoleWorld, 'relyingParty'>,
  realmFetch: CustomFetch,
): Hono<ApiEnv> {
  const { clock } = given
  const relyingParty = createRelyingParty({ fetch: realmFetch, clock })
  const world = { ...given, relyingParty }
  mountConsole(app, consoleRoutes(world), world)
  return app
}
