extension Catalogue {
    /// Types of movement and the energy that it uses. The columns are explained at ``Catalogue``.
    static let activity = """
        id                              | unit       | HealthKit unit   | style    | iOS  | possible | plausible  | display name
        activeEnergyBurned              | kcal       | kcal             | sum      | 8.0  | 0...     | -          | Active Energy
        appleExerciseTime               | min        | min              | sum      | 9.3  | 0...     | -          | Exercise Minutes
        appleMoveTime                   | min        | min              | sum      | 14.5 | 0...     | -          | Move Minutes
        appleStandTime                  | min        | min              | sum      | 13.0 | 0...     | -          | Stand Minutes
        appleWalkingSteadiness          | %          | %                | mean     | 15.0 | 0...100  | 0...100    | Walking Steadiness
        basalEnergyBurned               | kcal       | kcal             | sum      | 8.0  | 0...     | -          | Resting Energy
        crossCountrySkiingSpeed         | m/s        | m/s              | mean     | 18.0 | 0...     | 0...30     | Cross Country Skiing Speed
        cyclingCadence                  | /min       | count/min        | weighted | 17.0 | 0...     | 0...300    | Cycling Cadence
        cyclingFunctionalThresholdPower | W          | W                | mean     | 17.0 | 0...     | 0...3000   | Cycling Functional Threshold Power
        cyclingPower                    | W          | W                | weighted | 17.0 | 0...     | 0...3000   | Cycling Power
        cyclingSpeed                    | m/s        | m/s              | weighted | 17.0 | 0...     | 0...50     | Cycling Speed
        distanceCrossCountrySkiing      | m          | m                | sum      | 18.0 | 0...     | -          | Cross Country Skiing Distance
        distanceCycling                 | m          | m                | sum      | 8.0  | 0...     | -          | Cycling Distance
        distanceDownhillSnowSports      | m          | m                | sum      | 11.2 | 0...     | -          | Downhill Snow Sports Distance
        distancePaddleSports            | m          | m                | sum      | 18.0 | 0...     | -          | Paddle Sports Distance
        distanceRowing                  | m          | m                | sum      | 18.0 | 0...     | -          | Rowing Distance
        distanceSkatingSports           | m          | m                | sum      | 18.0 | 0...     | -          | Skating Sports Distance
        distanceSwimming                | m          | m                | sum      | 10.0 | 0...     | -          | Swimming Distance
        distanceWalkingRunning          | m          | m                | sum      | 8.0  | 0...     | -          | Walking + Running Distance
        distanceWheelchair              | m          | m                | sum      | 10.0 | 0...     | -          | Wheelchair Distance
        estimatedWorkoutEffortScore     | 1{score}   | appleEffortScore | mean     | 18.0 | 0...10   | 1...10     | Estimated Workout Effort Score
        flightsClimbed                  | 1{flights} | count            | sum      | 8.0  | 0...     | -          | Flights Climbed
        nikeFuel                        | 1          | count            | sum      | 8.0  | 0...     | -          | NikeFuel
        paddleSportsSpeed               | m/s        | m/s              | mean     | 18.0 | 0...     | 0...10     | Paddle Sports Speed
        physicalEffort                  | kcal/kg/h  | kcal/(kg*hr)     | mean     | 17.0 | 0...     | 0...30     | Physical Effort
        pushCount                       | 1{pushes}  | count            | sum      | 10.0 | 0...     | -          | Pushes
        rowingSpeed                     | m/s        | m/s              | mean     | 18.0 | 0...     | 0...10     | Rowing Speed
        runningGroundContactTime        | ms         | ms               | mean     | 16.0 | 0...     | 50...2000  | Ground Contact Time
        runningPower                    | W          | W                | mean     | 16.0 | 0...     | 0...3000   | Running Power
        runningSpeed                    | m/s        | m/s              | mean     | 16.0 | 0...     | 0...13     | Running Speed
        runningStrideLength             | m          | m                | mean     | 16.0 | 0...     | 0.1...4    | Running Stride Length
        runningVerticalOscillation      | cm         | cm               | mean     | 16.0 | 0...     | 0...40     | Vertical Oscillation
        sixMinuteWalkTestDistance       | m          | m                | mean     | 14.0 | 0...     | 0...1500   | Six-Minute Walk
        stairAscentSpeed                | m/s        | m/s              | mean     | 14.0 | 0...     | 0...4      | Stair Speed: Up
        stairDescentSpeed               | m/s        | m/s              | mean     | 14.0 | 0...     | 0...4      | Stair Speed: Down
        stepCount                       | 1{steps}   | count            | sum      | 8.0  | 0...     | 0...200000 | Steps
        swimmingStrokeCount             | 1{strokes} | count            | sum      | 10.0 | 0...     | -          | Swimming Strokes
        walkingAsymmetryPercentage      | %          | %                | mean     | 14.0 | 0...100  | 0...100    | Walking Asymmetry
        walkingDoubleSupportPercentage  | %          | %                | mean     | 14.0 | 0...100  | 0...100    | Double Support Time
        walkingSpeed                    | m/s        | m/s              | mean     | 14.0 | 0...     | 0...5      | Walking Speed
        walkingStepLength               | m          | m                | mean     | 14.0 | 0...     | 0.05...1.5 | Walking Step Length
        workoutEffortScore              | 1{score}   | appleEffortScore | mean     | 18.0 | 0...10   | 1...10     | Workout Effort Score
        """
}
