import CoreDataSource
import Foundation

nonisolated extension ManagedObjectModel {
    /// The model `Tasks`.
    static let tasks = ManagedObjectModel("Tasks") {
        TaskEntity.self
        Origin.self
    }
}
