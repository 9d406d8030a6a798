// error: 'DataSourceBinding' initializer is inaccessible due to 'internal' protection level
import CoreDataSource

let makeBinding = DataSourceBinding.init(tier:mainTier:)
