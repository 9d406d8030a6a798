// error: 'ManagedObjectSeed' initializer is inaccessible due to 'internal' protection level
import CoreDataSource

let makeSeed = ManagedObjectSeed.init(home:key:row:state:asOf:)
