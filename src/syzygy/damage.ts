/** What is wrong with a table file. Thrown inside the room only: the tables catch it and leave the file out from then on. */
export class DamagedTable extends Error {}
