/** For whoever restarts or routes: is the process alive, and can it do its work. */
import { Hono } from 'hono'
import type { Store } from '../store/store.ts'
import type { ApiEnv } from './api-env.ts'

export function healthRoutes({ store }: { store: Pick<Store, 'revision'> }) {
  const app = new Hono<ApiEnv>()
  app.get('/live', (c) => c.json({ status: 'live' }))
  app.get('/ready', async (c) => {
    try {
      await store.revision()
      return c.json({ status: 'ready' })
    } catch {
      return c.json({ status: 'not_ready', detail: 'The database does not answer.' }, 503)
    }
  })
  return app
}
