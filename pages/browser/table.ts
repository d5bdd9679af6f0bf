// The script of pages that have a table to sort and to filter, and nothing else.
import { startPage } from './dom.ts'
import { startTables } from './sortable.ts'

startPage()
startTables()
