/** The control plane's own address: where to go from here, in the visitor's language. */
import t from 'tap'
import { signpostRoutes } from '../../../control-plane/console/signpost.ts'

void t.test('the way to console and API is told in the language of the browser', async (t) => {
  const app = signpostRoutes('https://id.example.test')
  const get = async (language?: string) => {
    const headers = language === undefined ? {} : { 'Accept-Language': language }
    const answer = await app.request('/', { headers })
    t.equal(answer.headers.get('vary'), 'Accept-Language')
    return answer.text()
  }
  const english = await get()
  t.match(english, /lang="en".*The control plane is running.*https:\/\/id\.example\.test\/console/s)
  t.equal(await get('fr'), english)
  const german = await get('de-AT, en;q=0.5')
  t.match(german, /lang="de".*Die Steuerung läuft.*https:\/\/id\.example\.test\/console/s)
  t.notMatch(german, 'running')
})
