// Made by model-reset convert from the model Tasks. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

nonisolated extension ManagedObjectModel {
    /// The model `Tasks`.
    static let tasks = ManagedObjectModel("Tasks") {
        TaskEntity.self
        Origin.self
    }
}
