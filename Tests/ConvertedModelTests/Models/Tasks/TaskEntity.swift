// Made by model-reset convert from the model Tasks. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity
nonisolated class TaskEntity: ManagedObject {
    @Stored(raw: Int16.self) var effort: Work.Effort?
    var estimate: Int?
    @Stored(raw: Int32.self, default: 0) var labels: Labels
    var minutes: Int = 0
    @Stored(.composite) var origin: Origin?
    @Stored(raw: Int64.self, default: 2) var priority: Priority
    @Stored(raw: String.self, default: "open") var state: TaskState
    @Stored(unique: true) var uid: String
    @Stored(raw: Int64.self) var urgency: Priority?
    @Stored(raw: String.self) var venue: Venue?
}
