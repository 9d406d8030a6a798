// error: 'DraftContext' initializer is inaccessible due to 'internal' protection level
import CoreDataSource

let makeContext = DraftContext.init(_:prepare:)
