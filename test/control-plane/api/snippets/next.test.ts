/** On its own, since it takes its time: it is fetched, and it builds. */
import t from 'tap'
import { JAVASCRIPT } from '../../../../control-plane/api/contract/snippets/javascript.ts'
import { javascriptHosts } from './javascript-host.ts'
import { keepsItsPromises } from './promises.ts'

keepsItsPromises(JAVASCRIPT.next, (await javascriptHosts(t)).next)
