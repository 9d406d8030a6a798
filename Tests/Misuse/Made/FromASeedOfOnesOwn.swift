// error: 'ManagedObjectSeed' initializer is inaccessible due to 'internal' protection level
import CoreDataSource

let makeSeed = ManagedObjectSeed.init(layout:key:row:context:state:editing:asOf:)
