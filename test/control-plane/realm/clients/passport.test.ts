import { createHash, randomBytes } from 'node:crypto'
import express, { type Request } from 'express'
import session from 'express-session'
import passport from 'passport'
import Strategy from 'passport-openidconnect'
import t from 'tap'
import { signInAt, startClientWorld } from './application.ts'

interface Kept {
  verifier?: string
  problem?: string
}
const kept = (request: Request) => request.session as unknown as Kept

t.test('passport-openidconnect signs in, with the PKCE that its user has to add', async (t) => {
  const { tenant, base, serve } = await startClientWorld(t)
  const settings = {
    issuer: tenant.issuer,
    authorizationURL: `${tenant.issuer}/authorize`,
    tokenURL: `${tenant.issuer}/token`,
    userInfoURL: `${tenant.issuer}/userinfo`,
    clientID: tenant.clientId,
    clientSecret: tenant.clientSecret,
    callbackURL: `${base}/service/callback`,
    scope: ['profile', 'email'],
    skipUserProfile: false,
  }

  const app = express()
  app.use(session({ secret: 'of the application', resave: false, saveUninitialized: true }))
  app.use(passport.initialize())
  app.use((request, response, next) => {
    const strategy = new Strategy(settings, (_issuer: string, profile: object, done: Done) =>
      done(null, profile),
    )
    const { verifier } = kept(request)
    const one = strategy as unknown as Protected
    one.authorizationParams = () => {
      const made = (kept(request).verifier = randomBytes(32).toString('base64url'))
      const code_challenge = createHash('sha256').update(made).digest('base64url')
      return { code_challenge, code_challenge_method: 'S256' }
    }
    const exchange = one._oauth2.getOAuthAccessToken.bind(one._oauth2)
    one._oauth2.getOAuthAccessToken = (code, parameters, done) =>
      exchange(code, { ...parameters, code_verifier: verifier }, done)
    const options = { session: false }
    const authenticate = passport.authenticate(strategy, options) as express.RequestHandler
    authenticate(request, response, next)
  })
  app.get('/service/callback', (request, response) => {
    response.json(request.user)
  })
  await serve(app)

  const { inside } = await signInAt(`${base}/`)
  t.ok(inside.url.startsWith(`${base}/service/callback?`))
  t.match(JSON.parse(inside.html), {
    id: tenant.ada.userId,
    displayName: 'Ada Lovelace',
    emails: [{ value: 'ada@example.test' }],
  })
})

type Done = (error: null, user: object) => void

interface Protected {
  authorizationParams: (options: object) => object
  readonly _oauth2: {
    getOAuthAccessToken: (code: string, parameters: object, done: unknown) => void
  }
}
